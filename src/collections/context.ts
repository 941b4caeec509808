import type { ClientListeners } from '../events.ts';
import type { ListDefaults } from '../pagination/list-options.ts';
import type { RoutedForms } from '../schemas/id-form.ts';
import type { RecordReader, ValidationMode } from '../schemas/record-reader.ts';
import type { OwnFieldSchemas } from '../schemas/zod-fields.ts';
import type { CallSettings } from '../transport/call-options.ts';
import type { Transport } from '../transport/request.ts';
import type { AnyDefinition } from './define.ts';

/** What the collections of one client share. */
export interface ClientContext {
  readonly transport: Transport;
  /** Ends in `/api/public/v1`; part of what resume tokens are bound to. */
  readonly baseUrl: string;
  readonly settings: CallSettings;
  readonly lists: ListDefaults;
  /** Undefined: `throw`, and `report` for what is copied into a target. */
  readonly validation: ValidationMode | undefined;
  readonly listeners: ClientListeners;
  /** How the service sends ids. */
  readonly ids: 'strings' | 'numbers';
  /** Whether a record must have the id that was requested. */
  readonly checkIds: boolean;
  /** The segments of collections, and the kinds of ids that their service is known not to cast: see `castOf`. */
  readonly stringIds: Set<string>;
  /** What is known of the forms of ids. */
  readonly forms: RoutedForms;
  /** Names of undocumented fields of which the logger has been warned. */
  readonly warnedFields: Set<string>;
}

export interface CollectionContext extends ClientContext {
  readonly definition: AnyDefinition;
  readonly records: RecordReader;
  /** What a body must match: the definition, and the caller's schemas of fields unless validation is off. */
  readonly rules: Pick<AnyDefinition, 'fields' | 'serverFilled'> & {
    readonly schemas?: OwnFieldSchemas | undefined;
  };
  /** Whether a schema of the caller names a field, or may name it. */
  readonly namesField: (name: string) => boolean;
}
