/** A real terminal for the program: a window of tmux of its own, driven by keys, read as text. */
import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { CLI, until } from './cli.js';

/** Why there is no terminal here; undefined when there is one. */
export const noTerminal =
  spawnSync('tmux', ['-V']).status === 0 ? undefined : 'tmux is not installed (apt install tmux)';

const WAIT_MS = 50_000;
/** Windows that were opened here. */
let opened = 0;

export interface TerminalOptions {
  cwd: string;
  columns: number;
  rows: number;
  env?: Record<string, string>;
}

export class Terminal {
  readonly #socket: string;

  /** Opens a window with a shell in it; it is closed when the test ends. */
  constructor({ cwd, columns, rows, env = {} }: TerminalOptions) {
    opened += 1;
    this.#socket = `jobq-test-${process.pid}-${opened}`;
    const {
      CI: _ci,
      NO_COLOR: _colour,
      NODE_OPTIONS: _node,
      VITEST: _vitest,
      ...own
    } = process.env;
    execFileSync(
      'tmux',
      ['-L', this.#socket, '-f', '/dev/null', 'new-session', '-d']
        .concat(['-x', `${columns}`, '-y', `${rows}`])
        .concat(['env', 'PS1=$ ', 'sh']),
      { cwd, env: { ...own, ...env, TERM: 'xterm-256color' } },
    );
    onTestFinished(() => {
      spawnSync('tmux', ['-L', this.#socket, 'kill-server']);
    });
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' });
  }

  /** Types a command line of jobq-dev, and Enter. What is in `before` comes in front of it. */
  run(args: string, before = ''): void {
    this.type(`${before} ${process.execPath} ${CLI} ${args}`.trim());
    this.press('Enter');
  }

  /** Sends text as it is. */
  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  /** Sends keys by their names in tmux: `Enter`, `Escape`, `C-c`, `d`. */
  press(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`);
  }

  /** What is on the screen, a line each, without spaces at the end. */
  get screen(): string {
    return this.#tmux('capture-pane', '-p').trimEnd();
  }

  /** The screen with its control sequences. */
  get coloured(): string {
    return this.#tmux('capture-pane', '-p', '-e');
  }

  /** The screen and everything above it. */
  get scrollback(): string {
    return this.#tmux('capture-pane', '-p', '-S', '-', '-J');
  }

  /** Whether a program has left the terminal as a shell needs it. */
  get restored(): boolean {
    return (
      this.#ask('#{alternate_on} #{cursor_flag} #{keypad_flag} #{mouse_any_flag}') === '0 1 0 0'
    );
  }

  /** The process that runs in the foreground. */
  get pid(): number {
    const shell = this.#ask('#{pane_pid}');
    const found = execFileSync('ps', ['--ppid', shell, '-o', 'pid='], { encoding: 'utf8' });
    return Number(found.trim().split('\n')[0]);
  }

  #ask(format: string): string {
    return this.#tmux('display-message', '-p', format).trim();
  }

  /**
   * Resolves once the screen shows it.
   * @throws after a time that is too long on any machine, with what it shows instead.
   */
  async shows(pattern: RegExp): Promise<void> {
    const end = performance.now() + WAIT_MS;
    await until(() => {
      const { screen } = this;
      if (performance.now() > end) throw new Error(`no ${pattern} on the screen:\n${screen}`);
      return pattern.test(screen);
    });
  }
}
