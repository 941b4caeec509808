/**
 * What needs files: a store for the state of a sync.
 *
 * @packageDocumentation
 */

export { fileStore } from './file-store.ts';
