/** Faults that end a request without a byte of an answer. */
export type SilentFault =
  /** The connection is closed instead of an answer; `committed`: after the request was carried out. */
  | { readonly kind: 'lost-response'; readonly committed: boolean }
  /** The connection is reset (RST). Default: committed false. */
  | { readonly kind: 'connection-reset'; readonly committed?: boolean | undefined }
  /**
   * Nobody listens. A port cannot tell requests apart: on a listening sandbox a `refused` without conditions closes
   * the port and all connections at once, until the rule is removed or `forMs` is over, whatever `times` says; one
   * with conditions resets the connection. Default: forMs until removed.
   */
  | { readonly kind: 'connection-refused'; readonly forMs?: number | undefined };

/** Faults in the delivery of an answer. The request is carried out. */
export type DeliveryFault =
  /** The connection closes after so many bytes of status line and headers. Default: afterBytes 20. */
  | { readonly kind: 'close-in-headers'; readonly afterBytes?: number | undefined }
  /** The connection closes after byte `atByte` of the body. Default: atByte half of it. */
  | { readonly kind: 'close-in-body'; readonly atByte?: number | undefined }
  /** As `close-in-body`, with a reset. */
  | { readonly kind: 'reset-in-body'; readonly atByte?: number | undefined }
  /**
   * The answer stops without an end: before the first byte, or, with `in: 'body'`, after `atByte` of it. `committed:
   * false` leaves the request undone. Default: in 'headers', committed true.
   */
  | {
      readonly kind: 'stall';
      readonly in?: 'headers' | 'body' | undefined;
      readonly atByte?: number | undefined;
      readonly committed?: boolean | undefined;
    }
  /** The body comes in pieces. Default: bytes 1, everyMs 100. */
  | { readonly kind: 'slow-body'; readonly bytes?: number | undefined; readonly everyMs?: number | undefined }
  /** Content-Length is off by so many bytes; positive: more is announced than comes. Default: by 10. */
  | { readonly kind: 'wrong-length'; readonly by?: number | undefined }
  /** `Content-Encoding: gzip` on bytes that do not unpack. */
  | { readonly kind: 'corrupt-gzip' };

/** The answer is late; `before: 'commit'` also keeps the request waiting to be carried out. Default: before 'answer'. */
export interface DelayFault {
  readonly kind: 'delay';
  readonly ms: number;
  readonly before?: 'commit' | 'answer' | undefined;
}

/** Faults in what the answer says. */
export type ContentFault =
  /** A page of a proxy. The request is not carried out. Default: status 200. */
  | {
      readonly kind: 'html-response';
      readonly status?: number | undefined;
      readonly committed?: boolean | undefined;
    }
  /** An answer without a body. The request is carried out. Default: status that of the answer. */
  | { readonly kind: 'empty-body'; readonly status?: number | undefined }
  /** The right body under another Content-Type. Default: contentType 'text/plain'. */
  | { readonly kind: 'wrong-content-type'; readonly contentType?: string | undefined }
  /** Every amount as a JSON number. */
  | { readonly kind: 'money-as-number' }
  /**
   * 429. `retryAfter` is a number of seconds, an instant that goes out as an HTTP date, any text (`'1.5'`, `'-1'`,
   * `'soon'`), or null for no header. The request is not carried out. Default: retryAfter 1.
   */
  | { readonly kind: 'rate-limited'; readonly retryAfter?: number | Date | string | null | undefined }
  /**
   * A status with a problem document, or with HTML or nothing. `type` is the name of the error. `committed`: after
   * the request was carried out. Default: body 'problem', committed false.
   */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly type?: string | undefined;
      readonly body?: 'problem' | 'html' | 'empty' | undefined;
      readonly retryAfter?: number | Date | string | undefined;
      readonly committed?: boolean | undefined;
    }
  /** A redirect. The request is not carried out. Default: status 302. */
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number | undefined }
  /** `Date` is off by so many milliseconds. */
  | { readonly kind: 'clock-skew'; readonly byMs: number }
  /**
   * Anything else: changes the answer's status, headers (`null` takes one away) and body. The request is carried out
   * unless `committed: false`, which leaves an empty 200 to change.
   */
  | {
      readonly kind: 'rewrite';
      readonly status?: number | undefined;
      readonly headers?: Readonly<Record<string, string | null>> | undefined;
      readonly body?: string | Uint8Array | ((body: string) => string | Uint8Array) | undefined;
      readonly committed?: boolean | undefined;
    };

/** What can go wrong with a request. */
export type Fault = SilentFault | DeliveryFault | DelayFault | ContentFault;

/** The name of a kind of fault. */
export type FaultKind = Fault['kind'];

/** What a fault of each kind takes beside `kind`. */
export const FAULT_FIELDS: {
  readonly [Kind in FaultKind]: readonly Exclude<keyof Extract<Fault, { kind: Kind }>, 'kind'>[];
} = {
  'lost-response': ['committed'],
  'connection-reset': ['committed'],
  'connection-refused': ['forMs'],
  'close-in-headers': ['afterBytes'],
  'close-in-body': ['atByte'],
  'reset-in-body': ['atByte'],
  stall: ['in', 'atByte', 'committed'],
  'slow-body': ['bytes', 'everyMs'],
  'wrong-length': ['by'],
  'corrupt-gzip': [],
  delay: ['ms', 'before'],
  'html-response': ['status', 'committed'],
  'empty-body': ['status'],
  'wrong-content-type': ['contentType'],
  'money-as-number': [],
  'rate-limited': ['retryAfter'],
  status: ['status', 'type', 'body', 'retryAfter', 'committed'],
  redirect: ['location', 'status'],
  'clock-skew': ['byMs'],
  rewrite: ['status', 'headers', 'body', 'committed'],
};
