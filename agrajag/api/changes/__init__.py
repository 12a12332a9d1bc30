"""Changes of health as server-sent events: none missed and none twice, also where a client was away in between."""
