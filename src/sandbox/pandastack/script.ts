/**
 * Shell lines for the sandbox. A handler is started detached, and its end and output are polled: a
 * request that is lost on the way then loses nothing, and the poll keeps the sandbox from being taken
 * for idle.
 */
import type { Command } from '../port.js';

/** Ours in the sandbox, for one run each. */
export const OWN = '/tmp/.jobq';
export const WORKSPACE = '/workspace';
export const OUTPUT = '/output';
export const HANDLERS = '/handlers';

/**
 * How long output is read that somebody outside the handler's group still holds open; longer where a
 * busy machine has not yet let its readers read what is there.
 */
const PIPES_SECONDS = 0.5;

/** Bytes of each stream that one poll brings. */
export const PIECE_BYTES = 262_144;

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Makes the folders, and says that it is there. */
export const PREPARE = `mkdir -p ${OWN} ${WORKSPACE} ${OUTPUT} ${HANDLERS}`;

/** Takes away what a job has left, for the next one. */
export const EMPTY = `find ${WORKSPACE} ${OUTPUT} -mindepth 1 -delete`;

/** Moves an uploaded file into the workspace; no link on the way is followed. Fails with 3 for one. */
export function placeFile(uploaded: string, file: string): string {
  const folders = file.split('/').slice(0, -1);
  const checks = folders.map((_, index) => {
    const folder = quoted(folders.slice(0, index + 1).join('/'));
    return `{ [ ! -L ${folder} ] && mkdir -p ${folder} && [ -d ${folder} ]; } || exit 3`;
  });
  const target = quoted(file);
  return [
    `cd ${WORKSPACE} || exit 4`,
    ...checks,
    `[ ! -d ${target} ] || [ -L ${target} ] || exit 3`,
    // The second time, when the answer to the first was lost, it is there already.
    `[ -e ${uploaded} ] || exit 0`,
    `rm -f ${target} && mv ${uploaded} ${target} || exit 4`,
  ].join('; ');
}

/** Replaces what is in a folder by an uploaded archive. */
export function unpack(archive: string, folder: string): string {
  return `find ${folder} -mindepth 1 -delete; tar -xf ${archive} -C ${folder}`;
}

/** The script that runs the handler; `run` is its folder. */
export function runScript(
  run: string,
  command: Command,
  env: Readonly<Record<string, string>>,
): string {
  const [name, ...options] = command.interpreter;
  const script = `${HANDLERS}/${command.script}`;
  const variables = Object.entries(env).map(([key, value]) => quoted(`${key}=${value}`));
  const rest = [...options, ...(name === undefined ? [] : [script]), ...command.args].map(quoted);
  // Through pipes, for `> /dev/stderr` would empty a file. What left the handler's group may hold
  // them open: it is not waited for.
  return `: >${run}/out >${run}/err
end() { echo "$1" >${run}/status.new; mv ${run}/status.new ${run}/status; exit; }
fail() { echo "$2" >>${run}/err; end "$1"; }
# One that sleeps has read all there is (proc(5), stat).
reads() { case "$(cut -d' ' -f3 "/proc/$1/stat")" in S | '') return 1 ;; esac; }
check() {
  [ -e "$1" ] || fail 127 "$2: there is no such file ($1)"
  [ -f "$1" ] || fail 126 "$2: not a file ($1)"
  [ -x "$1" ] || fail 126 "$2: not executable; make it so with: chmod +x $1"
}
cd ${WORKSPACE}
${findProgram(name, script, command.script, env.PATH ?? '')}
mkfifo ${run}/out.pipe ${run}/err.pipe
cat ${run}/out.pipe >>${run}/out & out=$!
cat ${run}/err.pipe >>${run}/err & err=$!
setsid env -i ${variables.join(' ')} "$program" ${rest.join(' ')} </dev/null >${run}/out.pipe 2>${run}/err.pipe &
handler=$!
echo $handler >${run}/pid
wait $handler
status=$?
kill -9 -$handler 2>/dev/null
(sleep ${PIPES_SECONDS}
  while reads $out || reads $err; do sleep ${PIPES_SECONDS}; done
  kill $out $err) 2>/dev/null & timer=$!
wait $out $err
kill $timer
end $status
`;
}

function findProgram(
  name: string | undefined,
  script: string,
  shown: string,
  searchPath: string,
): string {
  if (name === undefined) {
    return `program=${quoted(script)}
check "$program" ${quoted(shown)}
wants=$(head -c 256 "$program" | tr -d '\\000' | sed -n '1s/^#![[:blank:]]*\\([^[:blank:]]*\\).*/\\1/p')
[ -z "$wants" ] || [ -e "$wants" ] || fail 127 ${quoted(shown)}": its #! line names $wants, which is not in the sandbox"`;
  }
  if (name.includes('/')) {
    return `program=${quoted(name.startsWith('/') ? name : `${HANDLERS}/${name}`)}
check "$program" ${quoted(name)}`;
  }
  const message = `${name}: not found in the sandbox; put it into its template, or set "interpreters" in jobq.config.json`;
  return `program=$(PATH=${quoted(searchPath)}; command -v ${quoted(name)}) || fail 127 ${quoted(message)}`;
}

/** Starts the script once, however often this is sent. */
export function start(run: string): string {
  return `mkdir ${run} 2>/dev/null || exit 0; setsid sh ${run}.sh >/dev/null 2>&1 </dev/null &`;
}

/**
 * Says `absent` when it was not started; else, in four lines: the exit status or `running`, the sizes of
 * stdout and stderr, and a piece of each from the given places, in base64.
 */
export function poll(run: string, at: { out: number; err: number }): string {
  const piece = (file: 'out' | 'err') =>
    `tail -c +${at[file] + 1} ${run}/${file} 2>/dev/null | head -c ${PIECE_BYTES} | base64 | tr -d '\\n'; echo`;
  return [
    `[ -d ${run} ] || { echo absent; exit; }`,
    // First the status: what is there after an end is all there is.
    `cat ${run}/status 2>/dev/null || echo running`,
    `for f in out err; do wc -c <${run}/$f 2>/dev/null || echo 0; done | tr '\\n' ' '; echo`,
    piece('out'),
    piece('err'),
  ].join('; ');
}

/** Ends the handler and what has stayed in its group. */
export function stop(run: string): string {
  return `kill -9 -$(cat ${run}/pid) 2>/dev/null; true`;
}

/** Packs the output directory, and gives the archive's size. */
export function pack(archive: string): string {
  return `tar -cf ${archive} -C ${OUTPUT} . && wc -c <${archive}`;
}

/** A piece of a file, in base64. */
export function readPiece(file: string, at: number): string {
  return `tail -c +${at + 1} ${file} | head -c ${4 * PIECE_BYTES} | base64 | tr -d '\\n'`;
}
