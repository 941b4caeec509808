import { decodeText, type ServiceRequest } from './message.ts';
import { Refusal } from './problem.ts';

const isJson = (contentType: string | undefined) =>
  contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType.trim());

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decodeText(body));
  } catch {
    throw new Refusal('malformed_request', 'The body is not JSON in UTF-8.');
  }
}

/** The JSON object in a body, or 400 (contract: Create a product, Content-Type and Body). */
export function readJsonObject(request: ServiceRequest): Record<string, unknown> {
  if (!isJson(request.headers['content-type'])) {
    throw new Refusal('malformed_request', 'Content-Type must be application/json.');
  }
  const value = parse(request.body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('malformed_request', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}
