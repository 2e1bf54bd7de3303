"""Tools for those who work on dcprog; none of them is installed with it."""
