/**
 * Marks the options of a list whose `updatedSince` is a watermark of a sync and no caller's instant: taken from the
 * service's own clock, it is asked for also where that clock has been set back since, or nobody could sync any more.
 */
export const OWN_INSTANT: unique symbol = Symbol.for('accounting-data-sdk.own-instant');
