import { createHash } from 'node:crypto';

/**
 * Adds a content security policy to a page: everything comes from this site. Programs are blobs, and a worker that begins
 * with a blob has the policy too.
 */
export function withPolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  const policy = [
    "default-src 'none'",
    // The configuration of the site has a function, which VitePress passes on as a string. A program may do the same.
    `script-src 'self' blob: 'unsafe-eval' ${inline.join(' ')}`,
    "worker-src 'self' blob:",
    "connect-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html.replace(
    '<head>',
    `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  );
}
