internal import Glibc

// Everything is decided in `Program`; a process ends here, or by a signal.
exit(await Program(arguments: CommandLine.arguments.dropFirst()).run())
