/** A text as one word of a command line, as it can be pasted into a shell. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  // As documentation writes it, which shells of Windows read too.
  if (!/["$`\\!%\p{Cc}]/u.test(text)) return `"${text}"`;
  if (!/\p{Cc}/u.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replaceAll(/[\\']|\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, '0')}` : `\\${character}`;
  });
  return `$'${escaped}'`;
}
