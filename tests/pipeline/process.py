"""The real worker as a process that can be told where to die (`python -m tests.pipeline.process '<json of Plan>'`)."""

import json
import sys
from dataclasses import dataclass

from agrajag.core.policy import Policy
from agrajag.documents.live import LiveDocuments
from agrajag.stream.running import StreamSettings, run_worker
from agrajag.stream.table import refuse_lost_table
from agrajag.stream.worker import build_worker
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.origin import Origins
from agrajag.wire.topics import Topic, Topics
from tests.failpoints import dying

PARTITIONS = 4


@dataclass(frozen=True)
class Plan:
    """Where the worker works, and at which passing of which failpoint it kills itself."""

    bootstrap_servers: str
    prefix: str
    die_at: str = ""
    die_after: int = 0
    session_timeout_seconds: float = 2.0

    @property
    def topics(self) -> Topics:
        return Topics(self.prefix, PARTITIONS)

    def settings(self) -> StreamSettings:
        return StreamSettings(
            group=f"{self.prefix}.worker",
            connection=KafkaConnection(self.bootstrap_servers),
            session_timeout_seconds=self.session_timeout_seconds,
            delivery_timeout_seconds=10.0,
            commit_interval_seconds=0.3,
            told_interval_seconds=0.5,
        )


def main(plan: Plan) -> int:
    documents = LiveDocuments(plan.settings().connection, plan.topics, Policy())

    async def prepare() -> None:
        topics = plan.topics
        await refuse_lost_table(
            topics.name(Topic.HEALTH_CHANGELOG),
            topics.name(Topic.HEALTH_CHANGED),
            **plan.settings().connection.client_options(),
        )
        await documents.start()

    return run_worker(
        plan.settings(),
        lambda: build_worker(
            plan.settings(),
            plan.topics,
            documents.effective,
            Origins(PARTITIONS),
            failpoint=dying(plan.die_at, plan.die_after),
            beside=(documents.run,),
        ),
        prepare,
    )


if __name__ == "__main__":
    sys.exit(main(Plan(**json.loads(sys.argv[1]))))
