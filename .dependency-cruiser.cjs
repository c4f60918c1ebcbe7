/**
 * The arrows of docs/architecture.md as rules:
 * cli → dev/world → {api, drain, replay, ui} → queue → db, `job` imports nothing of the project,
 * and a sandbox knows neither queue nor database.
 */
const only = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^(src|ui|test)/', pathNot: [from, ...to] },
});

/** Modules at the root of src that anything above `job` may use. */
const BASICS = '^src/(errors|json|json-scan|loopback|suggest|paths|process-identity)\\.ts$';
const EVENTS = '^src/(events|clock|schedule)\\.ts$';
const DATABASE_PORT = '^src/db/port\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-undeclared',
      comment: 'What is imported stands in package.json under dependencies.',
      severity: 'error',
      from: { path: '^(src|ui)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'unknown', 'undetermined'] },
    },
    {
      name: 'job-imports-nothing',
      severity: 'error',
      from: { path: '^src/job/' },
      to: { path: '^(src|ui)/', pathNot: '^src/job/' },
    },
    only('db', '^src/db/', [BASICS, '^src/job/']),
    only('queue', '^src/queue/', [BASICS, DATABASE_PORT, '^src/job/']),
    only('sandbox', '^src/sandbox/', [BASICS, '^src/job/']),
    only('drain', '^src/drain/', [
      BASICS,
      EVENTS,
      DATABASE_PORT,
      '^src/(job|queue)/',
      '^src/sandbox/port\\.ts$',
    ]),
    only('api', '^src/api/', [
      BASICS,
      EVENTS,
      DATABASE_PORT,
      '^src/(job|queue|drain)/',
      '^src/sandbox/port\\.ts$',
    ]),
    only('replay', '^src/replay/', [
      BASICS,
      EVENTS,
      DATABASE_PORT,
      '^src/(job|queue|drain)/',
      '^src/api/(client|contract)\\.ts$',
    ]),
    only('ui', '^ui/', [
      '^src/api/contract[/.]',
      '^src/api/(client|follow-events)\\.ts$',
      '^src/job/',
      '^src/(columns|errors|json)\\.ts$',
    ]),
    only('handler-test', '^src/handler-test/', [
      BASICS,
      '^src/job/',
      '^src/drain/(attempt|handler)\\.ts$',
      '^src/sandbox/port\\.ts$',
      '^src/replay/fixture\\.ts$',
      // The scratch database of handlers under test.
      '^src/db/(port|pglite|template)\\.ts$',
      '^src/wire/server\\.ts$',
    ]),
    only('record', '^src/record/', [BASICS, '^src/job/', '^src/queue/arrivals\\.ts$']),
    only('wire', '^src/wire/', [BASICS, '^src/db/', '^src/job/']),
    {
      name: 'cli-is-the-top',
      severity: 'error',
      from: { path: '^(src|ui)/', pathNot: '^src/cli(/|\\.ts$)' },
      to: { path: '^src/cli(/|\\.ts$)' },
    },
    {
      name: 'wiring-is-for-the-cli',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(cli(/|\\.ts$)|(dev|world|emulation|drain-config|open-world|doctor|build-schema|config)\\.ts$)',
      },
      to: {
        path: '^src/(dev|world|emulation|drain-config|open-world|doctor|config|settings)\\.ts$',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types'] },
  },
};
