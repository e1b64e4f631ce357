/*
 * What databases hold of a record as JSON (digests, batches that wait) calls its field `preserve` `keeps`, and goes on
 * to, so that digests stay the same and instances of two versions read each other's batches. A key cannot be mistaken
 * for text, in which quotes are escaped.
 */
export const toStored = (json: string): string => json.replace('"preserve":', '"keeps":');
export const fromStored = (json: string): string => json.replace('"keeps":', '"preserve":');
