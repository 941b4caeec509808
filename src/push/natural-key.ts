// When two natural keys are the same: exactly, or folded, because people and spreadsheets change invisible characters.

/** Control and format characters, and others that are not shown. Tabs and line breaks are white space. */
const INVISIBLE = /(?!\s)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|\ufeff/gu;

/** Keys of which only the case can differ: most of them. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** The same for keys that differ only in white space, invisible characters, Unicode form (NFC) or case. */
export function folded(key: string): string {
  if (PLAIN.test(key)) return key.toLowerCase();
  const visible = key.replaceAll(INVISIBLE, '').replaceAll(/\s+/g, ' ').trim().normalize('NFC');
  // In capitals, `ß` is `SS`, and `ẞ` in small letters `ß`.
  return visible.toLowerCase().toUpperCase().toLowerCase();
}

/** The same for keys that look alike, such as `A²` and `A2`: too much is lost to call them the same. */
export function lookOf(key: string): string {
  return PLAIN.test(key) ? key.toLowerCase() : folded(key.normalize('NFKC'));
}
