/**
 * What the emulator says over HTTP: the shapes that its server answers with and its clients read.
 * Ids are decimal strings, times ISO 8601 in UTC, payloads keep every digit.
 *
 * The schemas of answers are types here: nobody checks what this program itself says, so they are
 * loaded only where the OpenAPI document is made of them.
 */
export type * from './contract/control.js';
export type * from './contract/events.js';
export type * from './contract/jobs.js';
export type * from './contract/overview.js';
export type * from './contract/problem.js';
export * from './contract/requests.js';
