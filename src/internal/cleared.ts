/**
 * Marks the options of a request of the tools: what it is answered with is cleared of the API key, value by value. What
 * they find out becomes text, which is kept and passed on; a service may have put the key anywhere.
 */
export const CLEARED: unique symbol = Symbol.for('accounting-data-sdk.cleared');
