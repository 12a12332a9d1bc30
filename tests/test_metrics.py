"""The closed list: every metric is named, explained and labelled by closed sets alone."""

from prometheus_client import REGISTRY as EVERYBODYS
from prometheus_client import generate_latest
from prometheus_client.metrics import MetricWrapperBase

from agrajag import metrics

FAMILIES = list(metrics.REGISTRY.collect())
CLOSED_LABELS = {
    "topic", "reason", "kind", "outcome", "classification", "stage", "result", "cause", "effect", "identity", "end",
    "route", "method", "status", "type",
}  # fmt: skip


def test_every_metric_is_ours_by_name_and_says_what_it_counts() -> None:
    assert FAMILIES
    for family in FAMILIES:
        assert family.name.startswith("agrajag_")
        assert family.documentation.endswith(".")


def test_every_metric_of_the_registry_is_handed_on_by_the_package() -> None:
    handed_on = {
        family.name
        for collector in vars(metrics).values()
        if isinstance(collector, MetricWrapperBase)
        for family in collector.collect()
    }
    assert {family.name for family in FAMILIES} - handed_on == set()


def test_labels_come_from_closed_sets() -> None:
    for collector in vars(metrics).values():
        assert set(getattr(collector, "_labelnames", ())) <= CLOSED_LABELS


def test_nothing_of_ours_is_in_the_registry_that_everybody_shares() -> None:
    assert b"agrajag_" in generate_latest(metrics.REGISTRY)
    assert b"agrajag_" not in generate_latest(EVERYBODYS)
