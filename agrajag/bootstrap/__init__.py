"""Connects the settings with the concrete parts: the only place that says which adapter stands behind which role.

Each function imports what its role needs when it is called, so that a role runs without the libraries of the others,
and a missing extra is one line that names it.
"""

from agrajag.bootstrap.api import new_token, run_api
from agrajag.bootstrap.asking import (
    dead_letters,
    documents_in_force,
    inbox_items,
    past_errors,
    past_processes,
    push_documents,
    read_documents,
)
from agrajag.bootstrap.commanding import recheck, report_error, send_command, send_commands
from agrajag.bootstrap.demo import demo_tools
from agrajag.bootstrap.diagnosis import run_diagnosis
from agrajag.bootstrap.evaluation import run_evaluation
from agrajag.bootstrap.investigation import run_investigation
from agrajag.bootstrap.local import data_directory, embedded_kafka, embedded_store, free_ports, start_role
from agrajag.bootstrap.seeing import health_changes, health_documents, tailed
from agrajag.bootstrap.sink import compare_store, run_sink
from agrajag.bootstrap.topics import create_topics, refuse_unfit_topics
from agrajag.bootstrap.worker import rebuild_tables, run_worker

__all__ = [
    "compare_store",
    "create_topics",
    "data_directory",
    "dead_letters",
    "demo_tools",
    "documents_in_force",
    "embedded_kafka",
    "embedded_store",
    "free_ports",
    "health_changes",
    "health_documents",
    "inbox_items",
    "new_token",
    "past_errors",
    "past_processes",
    "push_documents",
    "read_documents",
    "rebuild_tables",
    "recheck",
    "refuse_unfit_topics",
    "report_error",
    "run_api",
    "run_diagnosis",
    "run_evaluation",
    "run_investigation",
    "run_sink",
    "run_worker",
    "send_command",
    "send_commands",
    "start_role",
    "tailed",
]
