"""The document cascade: project, tenant, bundled. For now the bundled layer, behind the interface of all of them."""
