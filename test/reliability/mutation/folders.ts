/** The folders of src whose tests are put to the proof, and the tests that have to notice a change there. */
export const folders: Readonly<Record<string, readonly string[]>> = {
  errors: ['test/unit/errors', 'test/unit/client', 'test/unit/sync/reconcile.test.ts'],
  schemas: ['test/unit/schemas', 'test/unit/errors', 'test/unit/collections'],
  pagination: ['test/unit/pagination'],
  sync: ['test/unit/sync'],
  transport: ['test/unit/transport', 'test/reliability/faults', 'test/unit/client'],
};
