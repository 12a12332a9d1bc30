"""Says whether a tenant may still use a model today, by the ledger and by the tenant's own settings.

The operator's limits hold where the tenant's settings say nothing; a project's settings have no say (spec agrajag §10
gives no budget: ours).
"""

from datetime import date, datetime

import structlog

from agrajag.core.day_limits import DayLimits
from agrajag.metrics import OVER_BUDGET
from agrajag.model.processes import ProcessRecord
from agrajag.service.documents import Documents
from agrajag.service.engine import Budget
from agrajag.service.ledger import Ledger, day_of, used_up

log = structlog.get_logger(__name__)


class DayBudgets:
    """The budgets of all tenants. `hear` keeps them up to date."""

    def __init__(self, documents: Documents, limits: DayLimits) -> None:
        self._documents = documents
        self._limits = limits
        self._ledger = Ledger()
        self._told: set[tuple[date, str, Budget]] = set()

    def hear(self, record: ProcessRecord, now: datetime) -> None:
        """Count what a record says was used; the same again changes nothing."""
        self._ledger.enter(record, now)

    def over(self, tenant_id: str, process_id: str, now: datetime) -> Budget | None:
        """What the tenant has used up of its day, the process that asks not counted; counted, and logged once a day."""
        limits = self._documents.rulebook.day_limits(tenant_id, self._limits)
        spent = self._ledger.spent(tenant_id, now, without=process_id)
        budget = used_up(spent, limits)
        if budget is not None:
            OVER_BUDGET.labels(budget).inc()
            self._tell(tenant_id, budget, now)
        return budget

    def _tell(self, tenant_id: str, budget: Budget, now: datetime) -> None:
        today = day_of(now)
        self._told = {told for told in self._told if told[0] == today}
        if (today, tenant_id, budget) not in self._told:
            self._told.add((today, tenant_id, budget))
            log.warning("tenant_over_budget", tenant_id=tenant_id, budget=budget)
