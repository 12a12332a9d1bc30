"""The closed words for what was wrong with a record: in headers of dead letters and in metrics."""

from enum import StrEnum


class DeadLetterReason(StrEnum):
    """Why a record was set aside; it is never tried again by itself.

    PROCESSING_FAILED is a bug of ours that one record has brought to light: the record waits for the repair.
    """

    NO_VALUE = "no_value"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    BAD_ENVELOPE = "bad_envelope"
    MISSING_FIELD = "missing_field"
    INVALID_FIELD = "invalid_field"
    PROCESSING_FAILED = "processing_failed"


class RepairKind(StrEnum):
    """What was mended in a record that is good otherwise; each has one clear default."""

    BODY_CUT = "body_cut"
    MESSAGE_CUT = "message_cut"
    HEADERS_DROPPED = "headers_dropped"
    HEADER_VALUE_CUT = "header_value_cut"
    EXCEPTION_CHAIN_CUT = "exception_chain_cut"
    TRANSPORT_UNKNOWN = "transport_unknown"
    CREDENTIAL_KIND_UNKNOWN = "credential_kind_unknown"
    TARGET_KIND_UNKNOWN = "target_kind_unknown"
    HEADER_NAME_NOT_TEXT = "header_name_not_text"
    CE_ID_IGNORED = "ce_id_ignored"
    CE_TIME_IGNORED = "ce_time_ignored"
    TOOL_NAMES_DROPPED = "tool_names_dropped"
