/** What wrangler.jsonc binds, as far as this worker uses it. */
export interface Env {
  readonly DB: D1;
  readonly ACCOUNTING_BASE_URL: string;
  /** A secret: `npx wrangler secret put ACCOUNTING_API_KEY`. */
  readonly ACCOUNTING_API_KEY: string;
  /** Requests to the service in one run. Each plan of Cloudflare has a limit for one invocation. */
  readonly MAX_REQUESTS?: string;
  /** How long one run may take, in ms. Default: ten minutes, of the fifteen that a scheduled run may live. */
  readonly MAX_MS?: string;
}

/** The part of a D1 database that is used here. */
export interface D1 {
  prepare(query: string): D1Statement;
  /** Everything in one transaction. */
  batch(statements: D1Statement[]): Promise<unknown>;
}

export interface D1Statement {
  bind(...values: readonly (string | number | null)[]): D1Statement;
  run(): Promise<{ readonly meta: { readonly changes: number } }>;
  first<Row>(): Promise<Row | null>;
  all<Row>(): Promise<{ readonly results: Row[] }>;
}
