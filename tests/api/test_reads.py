"""What is read from the view, and by whom."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from agrajag.api.permissions import Role
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import HistoryEntry, OverrideFacet, ToolHealth
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi, key_of
from tests.builders import a_cooldown, a_health, a_process_event, an_inbox_item
from tests.waiting import eventually_blocking


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def a_document(tool: str, **fields: Any) -> ToolHealth:
    """A document of now."""
    times = {"created_at": now(), "updated_at": now()}
    return a_health(tool_name=tool, **(times | fields))


def down_for_a_year(**fields: Any) -> dict[str, Any]:
    said = OverrideFacet(
        status=Status.DOWN, reason="moving house", by="ops", at=now(), until=now() + timedelta(days=365)
    )
    return {"override": said, **fields}


def for_everybody(tool: str, **fields: Any) -> ToolHealth:
    return a_document(tool, scope=Scope.TENANT, scope_id="acme", **fields)


def of_user(tool: str, user: str, **fields: Any) -> ToolHealth:
    return a_document(tool, scope=Scope.USER, scope_id=user, **fields)


def test_a_token_is_told_whose_it_is(api: RunningApi) -> None:
    answer = api.client("globex", Role.READER).get("/brain")
    assert answer.json() == {"items": [{"tenant": "globex", "user": "rita", "role": "reader"}]}


@pytest.mark.parametrize("tool", ["read-plain", "read/a slash", "read%2F", "read é|?#"])
def test_a_tool_of_any_name_is_told_with_what_follows_from_its_document(api: RunningApi, tool: str) -> None:
    document = for_everybody(tool, **down_for_a_year(revision=7))
    api.show(document)
    answer = api.client().get(f"/brain/acme/tools/{quote(tool, safe='')}/health")
    told = answer.json()
    assert ToolHealth.model_validate(told["health"], strict=False) == document
    assert (told["key"], told["status"]) == (key_of(document), "DOWN")
    assert "moving house" in told["words"]
    assert "moving house" in told["annotation"]
    assert answer.headers["etag"].startswith('"7-')


def test_what_is_known_already_is_not_sent_again_and_a_change_of_it_is(api: RunningApi) -> None:
    client = api.client()
    document = for_everybody("etag")
    api.show(document)
    tag = client.get("/brain/acme/tools/etag/health").headers["etag"]
    again = client.get("/brain/acme/tools/etag/health", headers={"If-None-Match": f'"x", W/{tag}'})
    assert (again.status_code, again.content) == (304, b"")
    api.show(document.with_changes(revision=2))
    changed = client.get("/brain/acme/tools/etag/health", headers={"If-None-Match": tag})
    assert changed.json()["health"]["revision"] == 2


def test_a_revision_that_comes_is_waited_for_and_one_that_does_not_is_told(api: RunningApi) -> None:
    client = api.client()
    document = for_everybody("awaited")
    api.show(document)
    for what in ("health", "cascade"):
        late = client.get(f"/brain/acme/tools/awaited/{what}", params={"minRevision": 2})
        assert (late.status_code, late.json()["type"]) == (503, "urn:agrajag:problem:not-yet")
    api.show(document.with_changes(revision=2))
    for what in ("health", "cascade"):
        assert client.get(f"/brain/acme/tools/awaited/{what}", params={"minRevision": 2}).status_code == 200


def test_the_cascade_tells_which_document_speaks_for_a_caller(api: RunningApi) -> None:
    wide, narrow = for_everybody("cascade", **down_for_a_year()), of_user("cascade", "rita")
    api.show(wide, narrow)
    address = "/brain/acme/tools/cascade/cascade"
    told = api.client(role=Role.READER).get(address, params={"userId": "rita"}).json()
    assert (told["status"], told["speaking"]) == ("DOWN", key_of(wide))
    assert [one["key"] for one in told["documents"]] == [key_of(narrow), key_of(wide)]
    nothing = api.client().get("/brain/acme/tools/nobody-knows/cascade").json()
    assert (nothing["status"], nothing["documents"]) == ("OK", [])


def test_history_is_told_newest_first(api: RunningApi) -> None:
    entries = tuple(
        HistoryEntry(at=now() - age, last_at=now() - age, status=Status.DOWN, by="agrajag-checker")
        for age in (timedelta(hours=1), timedelta(hours=2))
    )
    api.show(for_everybody("history", history=entries))
    told = api.client().get("/brain/acme/tools/history/history").json()
    assert [HistoryEntry.model_validate(one, strict=False) for one in told["items"]] == list(entries)


def test_a_list_goes_on_where_a_page_ended_and_shows_each_document_once(api: RunningApi) -> None:
    documents = [for_everybody(f"paged-{number}") for number in range(5)]
    api.show(*documents)
    client = api.client()
    keys: list[str] = []
    after: str | None = ""
    sizes = []
    while after is not None:
        page = client.get("/brain/acme/health", params={"tool": "PAGED-", "limit": 2, "after": after}).json()
        keys += [one["key"] for one in page["items"]]
        sizes.append(len(page["items"]))
        after = page["nextAfter"]
    assert keys == [key_of(one) for one in documents]
    assert sizes == [2, 2, 1]


def test_a_list_is_of_those_that_are_so_now(api: RunningApi) -> None:
    over = OverrideFacet(
        status=Status.DOWN, reason="was", by="ops", at=now(), until=now() - timedelta(minutes=1)
    )
    api.show(for_everybody("state-down", **down_for_a_year()), for_everybody("state-over", override=over))
    client = api.client()
    listed = {
        status: [
            one["health"]["toolName"]
            for one in client.get("/brain/acme/health", params={"tool": "state-", "status": status}).json()[
                "items"
            ]
        ]
        for status in Status
    }
    assert listed == {Status.DOWN: ["state-down"], Status.OK: ["state-over"], Status.DEGRADED: []}


@pytest.mark.parametrize(
    ("role", "seen", "users"),
    [
        (Role.READER, {"TENANT", "USER rita"}, {None, "rita"}),
        (Role.OPERATOR, {"TENANT", "SESSION"}, {None}),
        (Role.ADMIN, {"TENANT", "SESSION", "USER rita", "USER bob"}, {None, "rita", "bob"}),
    ],
)
def test_lists_hold_what_the_role_may_see_and_nothing_of_others(
    api: RunningApi, role: Role, seen: set[str], users: set[str | None]
) -> None:
    tool = f"who-sees-{role}"
    paused = a_cooldown(next_spawn_allowed_at=now() + timedelta(hours=1))
    with_pauses = {
        "cooldowns": (
            paused,
            paused.with_changes(error_signature="http-401", user_id="bob"),
            paused.with_changes(error_signature="http-403", user_id="rita"),
        )
    }
    documents = {
        "TENANT": for_everybody(tool, **with_pauses),
        "SESSION": a_document(tool, scope=Scope.SESSION, scope_id="s-1", cooldowns=(paused,)),
        "USER rita": of_user(tool, "rita", cooldowns=(paused,)),
        "USER bob": of_user(tool, "bob", cooldowns=(paused,)),
    }
    api.show(*documents.values())
    client = api.client(role=role)
    expected = {key_of(documents[name]) for name in seen}
    health = client.get("/brain/acme/health", params={"tool": tool}).json()["items"]
    assert {one["key"] for one in health} == expected
    paused_items = client.get("/brain/acme/cooldowns", params={"tool": tool}).json()["items"]
    assert {one["key"] for one in paused_items} == expected
    assert {one["cooldown"].get("userId") for one in paused_items} == users
    for one in health:
        told = {entry.get("userId") for entry in (*one["calling"], *one["health"]["cooldowns"])}
        assert told <= users


def test_cooldowns_tell_who_is_paused_until_when_and_why(api: RunningApi) -> None:
    lasts = a_cooldown(
        next_spawn_allowed_at=now() + timedelta(hours=1),
        last_classification=Classification.USER_SPECIFIC_TECHNICAL,
        note="the token is over",
    )
    is_over = a_cooldown(error_signature="http-502", next_spawn_allowed_at=now() - timedelta(hours=1))
    document = of_user("paused", "alice", cooldowns=(lasts, is_over))
    api.show(document)
    client = api.client()
    asked = {"tool": "paused", "userId": "alice"}
    (told,) = client.get("/brain/acme/cooldowns", params=asked).json()["items"]
    assert (told["key"], told["active"]) == (key_of(document), True)
    assert "the token is over" in told["words"]
    (past,) = client.get("/brain/acme/cooldowns", params=asked | {"active": "false"}).json()["items"]
    assert (past["cooldown"]["errorSignature"], past["active"]) == ("http-502", False)
    assert client.get("/brain/acme/cooldowns", params=asked | {"userId": "bob"}).json()["items"] == []


def test_what_was_told_of_runs_and_to_users_is_read_from_the_store_the_newest_first(api: RunningApi) -> None:
    items = [
        an_inbox_item(
            item_id=f"told-{number}", assigned_to_user_id=user, updated_at=now() - timedelta(hours=number)
        )
        for number, user in enumerate(["ringo", "bob", "ringo", "rita"])
    ]
    step = a_process_event(process_id="run-of-the-api", job_id="job-of-the-api", at=now())
    topics = api.parts.topics
    api.send(
        *(Output(topics.name(Topic.INBOX_ITEMS), one.item_id.encode(), one.to_json()) for one in items),
        process_output(topics, step, "tests"),
    )
    client, rita = api.client(), api.client(role=Role.READER)

    def ids(who: httpx.Client, **asked: Any) -> list[str]:
        return [one["itemId"] for one in who.get("/brain/acme/inbox", params=asked).json()["items"]]

    eventually_blocking(lambda: set(ids(client)) >= {one.item_id for one in items}, 60)
    assert [one for one in ids(rita) if one.startswith("told-")] == ["told-3"]
    assert ids(client, userId="ringo") == ["told-0", "told-2"]
    assert ids(client, userId="bob") == ["told-1"]
    assert ids(client, userId="ringo", status="DISMISSED") == []
    first = client.get("/brain/acme/inbox", params={"userId": "ringo", "limit": 1}).json()
    assert ids(client, userId="ringo", after=first["nextAfter"]) == ["told-2"]
    asked = {"jobId": "job-of-the-api"}
    eventually_blocking(lambda: client.get("/brain/acme/runs", params=asked).json()["items"], 60)
    (run,) = client.get("/brain/acme/runs", params=asked | {"projectId": "essays"}).json()["items"]
    assert run["processId"] == "run-of-the-api"
    story = client.get("/brain/acme/runs/run-of-the-api").json()
    assert [one["status"] for one in story["steps"]] == [step.status]
    assert (
        client.get("/brain/acme/runs", params=asked | {"until": "2020-01-01T00:00:00Z"}).json()["items"] == []
    )
