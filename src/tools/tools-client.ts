import type { AnyRequest } from '../collections/any-request.ts';
import type { CollectionName } from '../collections/index.ts';
import type { CLEARED } from '../internal/cleared.ts';
import type { RequestOptions } from '../transport/call-options.ts';

/** Options of a request of the tools. */
export interface ToolsOptions extends RequestOptions {
  [CLEARED]?: true;
}

/** What the tools need of a client. Every client of this package fits, whatever its schemas. */
export type ToolsClient = {
  /** Sends any request under `/api/public/v1`. */
  request<T = unknown>(request: AnyRequest<T>, options?: ToolsOptions): Promise<T>;
} & {
  readonly [Name in CollectionName]: {
    /** The path segment, such as `account-addresses`. */
    readonly segment: string;
    /** Where the service is, `/api/public/v1` included. */
    readonly baseUrl: string;
  };
};
