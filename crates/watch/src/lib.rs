//! CPU, memory, faults, switches, descriptors and sockets of a tree of processes, read from /proc and cgroups.
