"""Puts an attendant beside the tools of what a service has already: functions, an MCP session, a LangChain agent."""
