import type { FieldTable } from '../schemas/record.ts';
import type { CallSettings } from './call-options.ts';

/** What a push needs to know of a collection that can be written. */
export interface WriteFacts {
  /** The kind of each documented field: an amount is compared as a decimal, an EAN as a string. */
  readonly fields: FieldTable;
  /** The defaults of the client: how long an attempt may take, and whether a create is sent again. */
  readonly settings: CallSettings;
  /** The JSON text of a body. Throws an InvalidInputError for what a create or update would reject before sending. */
  body(draft: object): string;
}
