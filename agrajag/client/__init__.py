"""What other services import: it reports what their tools do, and knows what is known of these tools."""
