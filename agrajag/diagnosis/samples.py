"""Decides with what a tool is probed: the operator's sample, or a model's own where the operator's schema lets it.

A schema is judged by an engine whose patterns take linear time and which fetches nothing, so that neither what a model
writes nor where a schema points to can hold up a worker.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from agrajag.core.samples import plain
from agrajag.core.targets import Target
from agrajag.diagnosis.probe import ProbeRefusal


def chosen_sample(target: Target, own: Mapping[str, Any] | None) -> Mapping[str, Any] | ProbeRefusal:
    """What the tool is called with. `own` is the model's; it counts only where the target has a schema for it.

    Refused as SAMPLE_REFUSED where it is too large, no JSON, or does not fit, and as TARGET_BROKEN where the schema is
    none that can be used.
    """
    if own is None or target.model_input is None:
        return target.sample_input
    sample = plain(own)
    if sample is None:
        return ProbeRefusal.SAMPLE_REFUSED
    try:
        validator = jsonschema_rs.validator_for(
            dict(target.model_input), offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
        fits = validator.is_valid(sample)
    except ValueError:
        return ProbeRefusal.TARGET_BROKEN
    return sample if fits else ProbeRefusal.SAMPLE_REFUSED
