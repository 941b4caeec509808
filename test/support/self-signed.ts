import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A key and a certificate that vouches for itself, both as PEM. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for localhost and 127.0.0.1, made on the spot: valid from yesterday for a year. */
export function selfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = contentOf(publicKey, Date.now());
  const signature = sign('sha256', content, privateKey);
  const cert = sequence(content, ECDSA_WITH_SHA256, bitString(signature));
  const lines = cert.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
  };
}

const DAY_MS = 86_400_000;

/** What is signed (RFC 5280, section 4.1): version, serial number, issuer, validity, subject, key, extensions. */
function contentOf(publicKey: KeyObject, now: number): Buffer {
  const name = sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('localhost')))));
  const altNames = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  return sequence(
    der(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(now - DAY_MS), utcTime(now + 365 * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(0x55, 0x1d, 0x11), der(0x04, altNames)))),
  );
}

/** Tag, length, content: the whole of DER. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: readonly Uint8Array[]) => der(0x30, ...contents);
const integer = (value: number) => der(0x02, Buffer.from([value]));
const oid = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const bitString = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
/** `YYMMDDhhmmssZ`. */
const utcTime = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
