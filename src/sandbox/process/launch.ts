/** What is common to the two ways of running a command: through the warden, and directly. */
/** A command made ready: everything is found and checked, only to be started. */
export interface Launch {
  /** Program (an absolute path) and its arguments. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** The limit to watch, over the whole tree; 0 for none. */
  watchedMemoryBytes: number;
  /** Whether the program reports that what it ran died by signal n as exit code 128 + n. */
  signalsAsCodes: boolean;
}

/** Where output goes. */
export interface Sinks {
  stdout(bytes: Buffer): void;
  stderr(bytes: Buffer): void;
}

/** How a launched command ended; by then nothing of it runs any more. */
export type LaunchEnd =
  | { by: 'exit'; code: number; peakMemoryBytes?: number; leftBehind?: string[] }
  | { by: 'signal'; signal: string | null; peakMemoryBytes?: number; leftBehind?: string[] }
  /** Ended by our `kill`. */
  | { by: 'kill'; peakMemoryBytes?: number }
  /** Ended because the tree went over `watchedMemoryBytes`. */
  | { by: 'memory'; peakMemoryBytes?: number }
  /** It never ran. `message` is for people. */
  | { by: 'not-started'; errno: number; message: string }
  /** What watched it went away. */
  | { by: 'lost'; reason: string };

/** A command that was started. */
export interface Launched {
  /** Ends it and all that it started. Idempotent. */
  kill(): void;
  readonly ended: Promise<LaunchEnd>;
}
