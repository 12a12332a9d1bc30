"""Record keys: the parts of an identity joined by `|`, each part escaped so that no other identity gives the same key.

All documents of one tool of one tenant share the key of `tool_key` and so one partition, whatever their scope. Inside a
part `%` is written `%25` and `|` is written `%7C`, and a project that is called `-` is written `%2D`; nothing else is
changed, so that a producer in any language can build the key of an ordinary tool by hand.
"""

from functools import lru_cache

from agrajag.model.enums import Scope

NO_PROJECT = "-"
_ESCAPED_DASH = "%2D"


def _escaped(part: str) -> str:
    if "%" in part or "|" in part:
        return part.replace("%", "%25").replace("|", "%7C")
    return part


def tool_key(tenant_id: str, tool_name: str) -> str:
    """`tenant|tool`: the key of every record about one tool of one tenant."""
    return f"{_escaped(tenant_id)}|{_escaped(tool_name)}"


def health_key(tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> str:
    """`tenant|scope|scopeId|tool`: the key of one health document, in the table, the changelog and `health-changed`."""
    key = f"{tenant_id}|{scope}|{scope_id}|{tool_name}"
    if "%" not in key and key.count("|") == 3:
        return key
    return f"{_escaped(tenant_id)}|{scope}|{_escaped(scope_id)}|{_escaped(tool_name)}"


def tenant_prefix(tenant_id: str) -> str:
    """What the key of every record of one tenant begins with, and of no other."""
    return f"{_escaped(tenant_id)}|"


@lru_cache(4_096)
def health_keys(
    tenant_id: str, project_id: str | None, user_id: str | None, session_id: str | None, tool_name: str
) -> tuple[str, ...]:
    """The `health_key` of every document of the tool that applies to one caller, narrowest first.

    All five at once, because every event needs them; kept for a while, because one caller's calls of a tool follow
    each other.
    """
    joined = f"{tenant_id}{project_id}{user_id}{session_id}{tool_name}"
    if "%" in joined or "|" in joined:
        tenant, tool = _escaped(tenant_id), _escaped(tool_name)
        session_id, user_id, project_id = (
            part and _escaped(part) for part in (session_id, user_id, project_id)
        )
    else:
        tenant, tool = tenant_id, tool_name
    keys = []
    if session_id is not None:
        keys.append(f"{tenant}|SESSION|{session_id}|{tool}")
    if user_id is not None:
        keys.append(f"{tenant}|USER|{user_id}|{tool}")
    if project_id is not None:
        keys.append(f"{tenant}|PROJECT|{project_id}|{tool}")
    keys.append(f"{tenant}|TENANT|{tenant}|{tool}")
    keys.append(f"{tenant}|GLOBAL||{tool}")
    return tuple(keys)


def lane_key(tenant_id: str, project_id: str | None) -> str:
    """`tenant|project`: the ordered queue of one project's diagnosis jobs; `tenant|-` where there is no project."""
    if project_id == NO_PROJECT:
        return f"{_escaped(tenant_id)}|{_ESCAPED_DASH}"
    return f"{_escaped(tenant_id)}|{_escaped(project_id) if project_id else NO_PROJECT}"


def link_key(tenant_id: str, link_id: str) -> str:
    """`tenant|linkId`: the key of a connection's events, which keeps them in order."""
    return f"{_escaped(tenant_id)}|{_escaped(link_id)}"


def process_key(tenant_id: str, name: str, *told: str) -> str:
    """`tenant|name`: a process or a session in the store; `told` names one of the records about it."""
    return "|".join(map(_escaped, (tenant_id, name, *told)))


def command_key(tenant_id: str, command_id: str) -> str:
    """`tenant|command`: a command in the store; ids are a tenant's own."""
    return f"{_escaped(tenant_id)}|{_escaped(command_id)}"


def invocation_key(run_id: str, tool_call_id: str) -> str:
    """`run|call`: one tool call of an investigation in the store."""
    return f"{_escaped(run_id)}|{_escaped(tool_call_id)}"


def document_key(tenant_id: str, project_id: str | None, path: str) -> str:
    """`tenant|project|path`: the key of one document of the cascade; no project is `-`."""
    return f"{lane_key(tenant_id, project_id)}|{_escaped(path)}"


def parts(key: str) -> tuple[str, ...]:
    """The parts of a key as they were before they were joined."""
    if "%" not in key:
        return tuple(key.split("|"))
    return tuple(part.replace("%7C", "|").replace("%2D", "-").replace("%25", "%") for part in key.split("|"))
