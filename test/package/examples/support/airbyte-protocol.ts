import * as z from 'zod';

/**
 * What the Airbyte protocol (0.3.2) says of the messages of a source, stricter than its published JSON schema, which
 * allows any further member: here a misspelt one is an error, and a message has the body of its type and no other.
 */
const anyObject = z.record(z.string(), z.unknown());
const descriptor = z.strictObject({ name: z.string(), namespace: z.string().optional() });
const moment = z.number().int().positive();

const stream = z.strictObject({
  name: z.string(),
  json_schema: anyObject,
  supported_sync_modes: z.array(z.enum(['full_refresh', 'incremental'])).min(1),
  source_defined_cursor: z.boolean().optional(),
  default_cursor_field: z.array(z.string()).optional(),
  source_defined_primary_key: z.array(z.array(z.string())).optional(),
  namespace: z.string().optional(),
  is_resumable: z.boolean().optional(),
  is_file_based: z.boolean().optional(),
});

const specification = z.strictObject({
  protocol_version: z.string().optional(),
  documentationUrl: z.url().optional(),
  changelogUrl: z.url().optional(),
  connectionSpecification: anyObject,
  supportsIncremental: z.boolean().optional(),
  supported_destination_sync_modes: z
    .array(z.enum(['append', 'overwrite', 'append_dedup', 'update', 'soft_delete']))
    .optional(),
});

const reason = z.strictObject({
  type: z.literal('RATE_LIMITED'),
  rate_limited: z.strictObject({ quota_reset: z.number().int().optional() }).optional(),
});

const trace = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('STREAM_STATUS'),
    emitted_at: moment,
    stream_status: z.strictObject({
      stream_descriptor: descriptor,
      status: z.enum(['STARTED', 'RUNNING', 'COMPLETE', 'INCOMPLETE']),
      reasons: z.array(reason).optional(),
    }),
  }),
  z.strictObject({
    type: z.literal('ERROR'),
    emitted_at: moment,
    error: z.strictObject({
      message: z.string(),
      internal_message: z.string().optional(),
      stack_trace: z.string().optional(),
      failure_type: z.enum(['system_error', 'config_error', 'transient_error']).optional(),
      stream_descriptor: descriptor.optional(),
    }),
  }),
]);

/** A message of a source. */
export const airbyteMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('SPEC'), spec: specification }),
  z.strictObject({
    type: z.literal('CONNECTION_STATUS'),
    connectionStatus: z.strictObject({
      status: z.enum(['SUCCEEDED', 'FAILED']),
      message: z.string().optional(),
    }),
  }),
  z.strictObject({ type: z.literal('CATALOG'), catalog: z.strictObject({ streams: z.array(stream) }) }),
  z.strictObject({
    type: z.literal('RECORD'),
    record: z.strictObject({
      stream: z.string(),
      namespace: z.string().optional(),
      data: z.looseObject({ id: z.string() }),
      emitted_at: moment,
    }),
  }),
  z.strictObject({
    type: z.literal('STATE'),
    state: z.strictObject({
      type: z.literal('STREAM'),
      stream: z.strictObject({
        stream_descriptor: descriptor,
        stream_state: z.strictObject({ checkpoint: z.string() }),
      }),
      sourceStats: z.strictObject({ recordCount: z.number() }).optional(),
    }),
  }),
  z.strictObject({
    type: z.literal('LOG'),
    log: z.strictObject({
      level: z.enum(['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE']),
      message: z.string(),
      stack_trace: z.string().optional(),
    }),
  }),
  z.strictObject({ type: z.literal('TRACE'), trace }),
]);

export type AirbyteMessage = z.infer<typeof airbyteMessage>;
