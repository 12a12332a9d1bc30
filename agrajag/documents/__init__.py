"""The document cascade: project, tenant, bundled. Rules, recipes, probe targets and settings, and what is in force."""
