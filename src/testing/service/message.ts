/** A request as the service sees it, whichever way it came in. */
export interface ServiceRequest {
  /** In upper case. */
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** The query as sent, without `?`; empty where there is none. */
  readonly query: string;
  /** By lower-case name; several of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where there is none. */
  readonly body: Uint8Array;
}

/** An answer of the service, before any adapter or fault touches it. */
export interface ServiceReply {
  readonly status: number;
  /** By the name as it goes out. */
  readonly headers: Readonly<Record<string, string>>;
  /** The content, unencoded; undefined for none. */
  readonly body: Uint8Array | undefined;
  /** Facts for the log that do not go out. */
  readonly note?: ReplyNote | undefined;
}

/** What the log wants to know of a reply. */
export interface ReplyNote {
  /** The error type, as named in the contract. */
  readonly error?: string | undefined;
  /** How many records the answer holds. */
  readonly records?: number | undefined;
}

const encoder = new TextEncoder();

/** Text as UTF-8. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

/** UTF-8 as text; throws on bytes that are none. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** An answer with a JSON body. */
export function jsonReply(status: number, value: unknown, contentType = 'application/json'): ServiceReply {
  return { status, headers: { 'Content-Type': contentType }, body: encodeText(JSON.stringify(value)) };
}
