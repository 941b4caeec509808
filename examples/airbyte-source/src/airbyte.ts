import { isAccountingError } from 'accounting-data-sdk';
import type { Emitter, Lines, Stream } from './emitter.ts';

type StreamStatus = 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE';

/** What the platform may do about a failure: have a person look at the settings, try again, or tell the author. */
type FailureType = 'config_error' | 'transient_error' | 'system_error';

const OF_THE_SETTINGS: readonly string[] = [
  'unauthenticated',
  'forbidden',
  'scope_required',
  'invalid_input',
  'checkpoint',
];

/** Messages of the Airbyte protocol: per-stream state, and a trace of each stream's status. */
export class AirbyteMessages implements Emitter {
  readonly #lines: Lines;
  readonly #now: () => number;
  /** Records since the last state, and whether the stream has told of any. */
  #counted = 0;
  #running = false;

  constructor(lines: Lines, now: () => number = Date.now) {
    this.#lines = lines;
    this.#now = now;
  }

  async begin({ name }: Stream): Promise<void> {
    this.#counted = 0;
    this.#running = false;
    await this.#status(name, 'STARTED');
  }

  async records({ name }: Stream, records: readonly { id: string }[]): Promise<void> {
    if (records.length > 0 && !this.#running) {
      this.#running = true;
      await this.#status(name, 'RUNNING');
    }
    for (const data of records) {
      await this.#lines.write({ type: 'RECORD', record: { stream: name, data, emitted_at: this.#now() } });
    }
    this.#counted += records.length;
  }

  async checkpoint({ name }: Stream, checkpoint: string): Promise<void> {
    const stream = { stream_descriptor: { name }, stream_state: { checkpoint } };
    const sourceStats = { recordCount: this.#counted };
    this.#counted = 0;
    await this.#lines.write({ type: 'STATE', state: { type: 'STREAM', stream, sourceStats } });
  }

  async waiting({ name }: Stream, until: Date | undefined): Promise<void> {
    const quota = until === undefined ? {} : { rate_limited: { quota_reset: until.getTime() } };
    await this.#status(name, 'RUNNING', [{ type: 'RATE_LIMITED', ...quota }]);
  }

  async end({ name }: Stream): Promise<void> {
    await this.#status(name, 'COMPLETE');
  }

  async fail({ name }: Stream, error: unknown): Promise<void> {
    await this.error(error, name);
    await this.#status(name, 'INCOMPLETE');
  }

  /** Tells of a failure, of one stream or of the whole. The messages of the SDK show no key. */
  async error(error: unknown, stream?: string): Promise<void> {
    await this.#trace('ERROR', {
      error: {
        message: error instanceof Error ? error.message : String(error),
        failure_type: failureType(error),
        ...(stream !== undefined && { stream_descriptor: { name: stream } }),
      },
    });
  }

  async log(level: 'DEBUG' | 'INFO' | 'WARN', message: string): Promise<void> {
    await this.#lines.write({ type: 'LOG', log: { level, message } });
  }

  async send(type: 'SPEC' | 'CONNECTION_STATUS' | 'CATALOG', body: object): Promise<void> {
    await this.#lines.write({ type, ...body });
  }

  async #status(name: string, status: StreamStatus, reasons?: readonly object[]): Promise<void> {
    const stream_status = { stream_descriptor: { name }, status, ...(reasons !== undefined && { reasons }) };
    await this.#trace('STREAM_STATUS', { stream_status });
  }

  async #trace(type: 'STREAM_STATUS' | 'ERROR', body: object): Promise<void> {
    await this.#lines.write({ type: 'TRACE', trace: { type, emitted_at: this.#now(), ...body } });
  }
}

function failureType(error: unknown): FailureType {
  if (!isAccountingError(error)) return 'system_error';
  if (OF_THE_SETTINGS.includes(error.code)) return 'config_error';
  return error.retryable ? 'transient_error' : 'system_error';
}
