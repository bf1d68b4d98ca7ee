// The numbers of an image set by which "Find cases" and the folder browser sort.

export const MEASURES = ['ap', 'margin', 'precision', 'disagreement', 'darkness', 'outliers'];
