/**
 * Each known fault: which check finds it, and under which name. The handlers are in
 * `handlers/<name>/`, the faulty one and its repaired twin. The table of docs/handler-tests.md is
 * this one.
 */
import type { CheckName, Fault } from '#src/handler-test/checks/check.js';

export interface KnownFault {
  name: string;
  language: 'Python' | 'JavaScript' | 'shell';
  /** What the handler does wrong. */
  does: string;
  check: CheckName;
  fault: Fault;
  /** What the finding says, in part. */
  says: string;
  /** Other checks that rightly see it too. */
  also?: CheckName[];
}

export const FAULTS: KnownFault[] = [
  {
    name: 'needs-developer-env',
    language: 'Python',
    does: 'reads an environment variable that production will not have',
    check: 'runs',
    fault: 'other-end',
    says: "dead after 3 attempts: KeyError: 'JOBQ_FAULTS_SECRET'",
  },
  {
    name: 'wrong-total',
    language: 'Python',
    does: 'adds money up in floating point',
    check: 'runs',
    fault: 'other-text',
    says: 'stdout does not contain "total 0.3\\n"',
  },
  {
    name: 'eats-memory',
    language: 'Python',
    does: 'reads a whole export into memory',
    check: 'runs',
    fault: 'signal',
    says: 'over the memory limit of 128 MiB',
  },
  {
    name: 'charges-twice',
    language: 'Python',
    does: 'sends a charge without an idempotency key',
    check: 'twice',
    fault: 'request-repeated',
    says: 'POST https://pay.example.test/charges is sent again without an idempotency key',
    also: ['killed', 'timeout'],
  },
  {
    name: 'new-key-each-time',
    language: 'JavaScript',
    does: 'makes a new idempotency key for each attempt',
    check: 'twice',
    fault: 'request-repeated',
    says: 'is sent again with another idempotency key',
    also: ['killed', 'timeout'],
  },
  {
    name: 'appends-to-file',
    language: 'shell',
    does: 'appends to a file',
    check: 'twice',
    fault: 'file-changed',
    says: 'ledger.txt differs',
    also: ['killed'],
  },
  {
    name: 'writes-the-time',
    language: 'JavaScript',
    does: 'writes the time of the attempt into its result',
    check: 'twice',
    fault: 'file-changed',
    says: 'certificate.txt differs',
  },
  {
    name: 'counts-deliveries',
    language: 'JavaScript',
    does: 'counts how often it ran',
    check: 'twice',
    fault: 'file-changed',
    says: 'number differs',
    also: ['killed'],
  },
  {
    name: 'inserts-row-twice',
    language: 'JavaScript',
    does: 'inserts a row for each delivery',
    check: 'twice',
    fault: 'row-changed',
    says: 'public.orders has other rows',
    also: ['killed'],
  },
  {
    name: 'trusts-half-file',
    language: 'Python',
    does: 'takes a file that is there for a whole one',
    check: 'killed',
    fault: 'file-changed',
    says: 'report.txt differs',
  },
  {
    name: 'moves-half-the-money',
    language: 'JavaScript',
    does: 'changes two rows without a transaction',
    check: 'killed',
    fault: 'row-changed',
    says: 'killed right after write 1 to the database: public.accounts has other rows',
  },
  {
    name: 'marks-done-first',
    language: 'Python',
    does: 'notes that the mail is sent, then sends it',
    check: 'killed',
    fault: 'request-missing',
    says: 'POST https://mail.example.test/send is not sent: that work is lost',
  },
  {
    name: 'waits-for-ever',
    language: 'Python',
    does: 'sends a request without a timeout',
    check: 'timeout',
    fault: 'hangs',
    says: 'it does not give up within',
  },
  {
    name: 'swallows-http-error',
    language: 'JavaScript',
    does: 'swallows an HTTP error and exits 0',
    check: 'failing-dependency',
    fault: 'false-success',
    says: 'answers 500: it exits 0 as if all were well',
  },
  {
    name: 'believes-cut-answer',
    language: 'shell',
    does: 'takes what has come of an answer for all of it',
    check: 'failing-dependency',
    fault: 'false-success',
    says: 'answers byte by byte, then breaks off: it exits 0 as if all were well',
  },
  {
    name: 'retries-for-ever',
    language: 'Python',
    does: 'asks again for as long as it is told 429',
    check: 'failing-dependency',
    fault: 'hangs',
    says: 'answers 429: it does not give up within',
  },
  {
    name: 'silent-failure',
    language: 'shell',
    does: 'fails without a word',
    check: 'failing-dependency',
    fault: 'no-message',
    says: 'it fails without a message; exit status 22 is all that a person would find',
    also: ['timeout'],
  },
  {
    name: 'half-file-before-failing',
    language: 'JavaScript',
    does: 'writes half of a file, fails, and finds it there the next time',
    check: 'failing-dependency',
    fault: 'file-changed',
    says: 'answers 500, and is well again: invoice.txt differs',
    also: ['killed', 'timeout'],
  },
  {
    name: 'crashes-on-null',
    language: 'JavaScript',
    does: 'crashes on null',
    check: 'poison',
    fault: 'crash',
    says: 'it crashes: TypeError: Cannot read properties of',
  },
  {
    name: 'dies-by-signal',
    language: 'JavaScript',
    does: 'aborts the process on a bad size',
    check: 'poison',
    fault: 'signal',
    says: 'ended by SIGABRT',
  },
  {
    name: 'loops-on-odd-input',
    language: 'Python',
    does: 'counts down from what is no number',
    check: 'poison',
    fault: 'hangs',
    says: 'it does not end within',
  },
  {
    name: 'half-done-success',
    language: 'Python',
    does: 'passes over what it cannot do, and exits 0',
    check: 'poison',
    fault: 'false-success',
    says: 'it exits 0 with half its work done',
  },
  {
    name: 'leaves-daemon',
    language: 'shell',
    does: 'leaves a process running',
    check: 'clean',
    fault: 'process-left',
    says: 'it ends while a process of it still runs',
  },
  {
    name: 'state-beside-script',
    language: 'Python',
    does: 'keeps its state beside the script',
    check: 'clean',
    fault: 'file-outside',
    says: 'done.log into the handlers directory',
  },
  {
    name: 'state-in-tmp',
    language: 'shell',
    does: 'keeps its state in /tmp',
    check: 'clean',
    fault: 'file-outside',
    says: 'it leaves /tmp/jobq-faults-mark-',
  },
];
