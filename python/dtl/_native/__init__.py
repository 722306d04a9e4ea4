"""The native library, and what every other package needs of it: arguments, call sites, threads."""
