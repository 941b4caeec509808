/**
 * A store in files for the state of a sync.
 *
 * @packageDocumentation
 */

export { fileStore } from './file-store.ts';
