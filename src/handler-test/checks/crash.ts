/**
 * Tells a handler that says what is wrong from one that falls over it. A stack trace of a
 * deliberate error (`ValueError: amount must be positive`) is a message; one of the language's own
 * words for a bug (`'NoneType' object is not subscriptable`) is a crash.
 */

const PYTHON_BUG =
  /^(TypeError|AttributeError|KeyError|IndexError|NameError|UnboundLocalError|ZeroDivisionError|StopIteration|UnicodeEncodeError|AssertionError)\b/;
const NODE_BUG = /^(?:Uncaught )?((?:Type|Reference|Range)Error\b.*)$/m;
/** How an uncaught error of node ends, or one that was printed with its stack. */
const NODE_END = /^(Node\.js v\d|\s+at .|\})/;
const RUBY_BUG = /\((NoMethodError|TypeError|NameError|KeyError|ZeroDivisionError|FrozenError)\)/;
const PHP_BUG = /^(?:PHP )?Fatal error: +Uncaught (TypeError|ArgumentCountError|Error)\b.*$/m;

/** The line that names the bug, or undefined when stderr is something for people. */
export function crashLine(stderr: string): string | undefined {
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '');
  const last = lines.at(-1);
  if (last === undefined) return undefined;
  if (/^Traceback \(most recent call last\):/m.test(stderr) && PYTHON_BUG.test(last)) return last;
  if (NODE_END.test(last)) {
    const thrown = NODE_BUG.exec(stderr)?.[1];
    if (thrown !== undefined) return thrown;
  }
  const ruby = lines.find((line) => RUBY_BUG.test(line));
  return ruby ?? PHP_BUG.exec(stderr)?.[0];
}
