"""What is served over HTTP: reports, reads, commands, changes as they come, and the status page."""
