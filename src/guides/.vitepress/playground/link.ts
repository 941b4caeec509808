import { type Settings, settingsOf } from './settings.ts';

/** A program with the settings that it is run with. */
export interface Shared {
  readonly code: string;
  readonly settings: Settings;
}

/** A longer program has no link: browsers limit an address. */
const MOST_CHARACTERS = 60_000;

/** The part of a link behind `#`, which no server sees: the program, compressed. */
export async function hashOf(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  return `code=${base64Url(await through(bytes, new CompressionStream('deflate-raw')))}`;
}

/** The program in a link; undefined if there is none, or one that cannot be read. */
export async function sharedIn(hash: string): Promise<Shared | undefined> {
  const [, text] = /^#?code=([\w-]+)$/.exec(hash) ?? [];
  if (text === undefined || text.length > MOST_CHARACTERS) return undefined;
  try {
    const bytes = await through(fromBase64Url(text), new DecompressionStream('deflate-raw'));
    const { code, settings } = JSON.parse(new TextDecoder().decode(bytes)) as Partial<Shared>;
    return typeof code === 'string' ? { code, settings: settingsOf(settings) } : undefined;
  } catch {
    return undefined;
  }
}

async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const body = new Response(new Blob([bytes as BlobPart]).stream().pipeThrough(stream)).arrayBuffer();
  return new Uint8Array(await body);
}

function base64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
}
