/** A request as the service sees it, over HTTP or through `fetch`. */
export interface ServiceRequest {
  /** In upper case. */
  readonly method: string;
  /** The path as sent, percent-encoded, without the query. */
  readonly path: string;
  /** The query as sent, without `?`; may be empty. */
  readonly query: string;
  /** By lower-case name; several values of one name are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** May be empty. */
  readonly body: Uint8Array;
}

/** A response of the service, before a fault or an adapter changes it. */
export interface ServiceResponse {
  readonly status: number;
  /** By the name that is sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** The content, not compressed; undefined if there is none. */
  readonly body: Uint8Array | undefined;
  /** Facts for the log that are not sent. */
  readonly note?:
    | { readonly error?: string; readonly records?: number; readonly ids?: readonly string[] }
    | undefined;
}

/** A string as UTF-8. */
export function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** UTF-8 as a string; throws on invalid bytes. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** A response with a JSON body. */
export function jsonResponse(
  status: number,
  value: unknown,
  contentType = 'application/json',
): ServiceResponse {
  return { status, headers: { 'Content-Type': contentType }, body: encodeText(JSON.stringify(value)) };
}
