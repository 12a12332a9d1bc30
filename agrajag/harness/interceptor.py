"""Stands before every request of the SDK's loop: asks the context for a round, sends it, counts what it used.

It is the SDK's middleware, so not even a retry of the SDK could pass it. Of a request it changes three things only: the
room for the answer, and in the final round the choice of tools and a last text. The tools stay as they are, for
the API refuses a history of tool calls without them.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from anthropic import APIRequest, AsyncAPIResponse, AsyncCallNext, Middleware
from anthropic.types.beta import BetaUsage

from agrajag.harness.boundary import HarnessBug, ToolBoundary
from agrajag.harness.budgets import Round
from agrajag.harness.model import ModelAccess
from agrajag.harness.replies import asked_calls, checked, is_plain
from agrajag.harness.run_context import RunContext
from agrajag.harness.steps import ModelStep, StepHook, tell
from agrajag.harness.stops import Stopped, StopReason
from agrajag.harness.usage import Usage, usage_of
from agrajag.metrics import (
    MODEL_REQUEST_SECONDS,
    MODEL_REQUESTS,
    MODEL_TOKENS,
    MODEL_USAGE_MISSING,
    TokenKind,
)

_MESSAGES = "/v1/messages"
_OK, _REDIRECTS = 200, 300


class ModelInterceptor(Middleware):
    """The interceptor of one run."""

    def __init__(
        self,
        context: RunContext,
        boundary: ToolBoundary,
        access: ModelAccess,
        final_text: str,
        hook: StepHook | None,
    ) -> None:
        self._context = context
        self._boundary = boundary
        self._access = access
        self._final_text = final_text
        self._hook = hook

    async def handle_async(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        """One round. Raises Stopped where there is none, and where its reply cannot be used."""
        body = request.json
        if request.retries_taken or request.url != _MESSAGES or not isinstance(body, Mapping):
            raise HarnessBug(f"a request to {request.url} that no round asked for")
        allowed = self._context.before_model_call(body["max_tokens"])
        response = await self._sent(request.copy(body=for_round(body, allowed, self._final_text)), call_next)
        if response.status_code == _OK:
            await self._received(response)
        elif response.status_code < _REDIRECTS:
            # The SDK would take it for a reply, and nothing of it would have been checked or counted.
            raise Stopped(StopReason.MALFORMED_REPLY)
        return response

    async def _sent(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        MODEL_REQUESTS.inc()
        with MODEL_REQUEST_SECONDS.time():
            try:
                async with asyncio.timeout(self._access.request_seconds):
                    return await call_next(request)
            except TimeoutError:
                raise Stopped(StopReason.MODEL_TIMEOUT) from None

    async def _received(self, response: AsyncAPIResponse[Any]) -> None:
        if not is_plain(response.http_response.content):
            raise Stopped(StopReason.MALFORMED_REPLY)
        try:
            reply = checked(await response.parse())
        except Exception:  # the SDK trips over what it did not expect in many ways
            raise Stopped(StopReason.MALFORMED_REPLY) from None
        usage = usage_of(reply.usage)
        reply.usage = BetaUsage(input_tokens=usage.input, output_tokens=usage.output)  # whatever it was
        self._context.after_model_call(usage, self._access.prices)
        _count(usage)
        asked = self._boundary.expect(asked_calls(reply))
        context = self._context
        spent = context.spent
        step = ModelStep(context.session_id, context.run_id, spent.model_calls, spent.final, asked, usage)
        await tell(self._hook, step)


def for_round(body: Mapping[str, Any], allowed: Round, final_text: str) -> dict[str, Any]:
    """The request as this round sends it. The final text comes after the results of tools, as the API wants it."""
    sent = {**body, "max_tokens": allowed.max_tokens}
    if allowed.final is None:
        return sent
    if body.get("tools"):
        sent["tool_choice"] = {"type": "none"}
    *earlier, last = body["messages"]
    if last["role"] == "user":  # else a reply that the model has paused, and will go on with
        content = last["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        sent["messages"] = [*earlier, {**last, "content": [*blocks, {"type": "text", "text": final_text}]}]
    return sent


def _count(usage: Usage) -> None:
    for kind in TokenKind:
        MODEL_TOKENS.labels(kind).inc(getattr(usage, kind))
    if not usage.complete:
        MODEL_USAGE_MISSING.inc()
