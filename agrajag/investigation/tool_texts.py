"""What the model is told of each tool: what it looks at, what it is asked, what its answer is worth.

The same in every round of every run: no count, no limit, nothing that is left (spec single-react: Evidence Tools).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agrajag.investigation.requests import ToolName

_ENVELOPE = (
    "参数是信封对象：业务请求写在 input 中；"
    "仅当上一个非空结果（EVIDENCE）尚未评价时，才同时填写 previous_observation。"
)

TOOL_TEXTS: Mapping[ToolName, str] = MappingProxyType(
    {
        ToolName.LOOKUP_KNOWLEDGE: (
            "在内部运行手册中按关键词检索，返回相关片段。用于了解某类错误的含义、常见原因和处置方法。"
            "手册描述的是一般情况，不能单独证明本次故障发生了什么。"
            "input.query 填写要检索的关键词，例如错误码、组件名或现象；input.limit 是希望返回的片段数量。"
            + _ENVELOPE
        ),
        ToolName.QUERY_LOGS: (
            "查询一个明确时间窗口内的日志。input.since 和 input.until 是带时区的绝对时间，包含起点、不包含终点；"
            "input.service 限定服务；input.level 是要返回的最低级别；"
            "input.contains 按字面查找，input.pattern 按 RE2 正则查找，两者最多填写其一；input.limit 是希望返回的行数。"
            "不知道时间范围时不要调用，也不要自行编造时间或服务名。" + _ENVELOPE
        ),
        ToolName.QUERY_MYSQL: (
            "对允许访问的库表执行一条只读的 SELECT 语句，返回结果行。"
            "input.sql 填写完整语句，请明确列名，并用条件限定范围。"
            "任何写入、加锁、变量、提示、注释或访问其他库的写法都会被拒绝。"
            "不要猜测表名、列名或业务标识；缺少这些信息时不要调用。" + _ENVELOPE
        ),
    }
)


def texts_with(tables: Mapping[str, Sequence[str]]) -> Mapping[ToolName, str]:
    """The texts where these tables, each with these columns, may be read: what is not told can only be guessed."""
    named = "；".join(f"{table}（{'、'.join(columns)}）" for table, columns in tables.items())
    told = f"{TOOL_TEXTS[ToolName.QUERY_MYSQL]}可以读取的表和列：{named}。"
    return MappingProxyType({**TOOL_TEXTS, ToolName.QUERY_MYSQL: told})
