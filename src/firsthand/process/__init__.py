"""Starting and stopping processes: the only package that does either."""
