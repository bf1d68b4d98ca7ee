// The shapes that the modules hand to each other. Nothing here runs.

/** @typedef {'rgb' | 'nir' | 'tir'} Modality */
/** @typedef {[number, number]} Range lowest and highest value */
/** @typedef {{ rows: number, cols: number }} Shape a grid of patches */
/** @typedef {{ code: string | null, values: Record<string, any>, text: string }} Note a sentence of the server */
/** @typedef {{ zone: string | null, note: Note }} Failure a sentence, and the zone it concerns */
/** @typedef {Record<string, any> & { variant: string }} Settings one number per slider, and the variant */
/** @typedef {{ colormap: string, over: string, opacity: number, smooth: string, scale: string, dropped: string }} Display */

/**
 * A column of the grid, as Python's table describes it.
 * @typedef {object} Panel
 * @property {string} name
 * @property {'photo' | 'heat' | 'kept'} kind
 * @property {'evidence' | 'decision' | 'output' | 'what-if'} group
 * @property {string} symbol markup
 * @property {string} equation markup
 * @property {Record<string, string>} equations by variant, where it differs
 * @property {Record<string, string>} symbols by variant, where it differs
 * @property {0 | 1 | null} other which of the two other modalities the map compares with
 * @property {boolean} masked dropped patches are painted as dropped
 * @property {boolean} tokens one aggregated token can be chosen
 * @property {boolean} what_if
 * @property {boolean} compact among the columns of a narrow figure
 * @property {string[]} sliders what changes it
 * @property {boolean} shares its values are whole numbers of draws, divided by their number
 */

/** @typedef {{ name: string, symbol: string, step: number, log: boolean, low: number, high: number }} Slider */
/** @typedef {Slider & { default: number, words: string }} Knob a number that one selector reads */
/**
 * A way to select, and what it has: panels from left to right, sliders that it reads, knobs of its own.
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} label of the public history
 * @property {string} summary
 * @property {string} selector
 * @property {boolean} soft nothing is dropped
 * @property {string[]} panels
 * @property {string[]} reads
 * @property {Knob[]} knobs
 */
/** @typedef {{ name: string, title: Record<string, string>, thumbnail: string, generated?: boolean }} Example */

/**
 * Weights to choose from; those that are only listed have no report yet.
 * @typedef {object} Model
 * @property {string} id
 * @property {Record<string, any>} weights name, hash, what was loaded
 * @property {string} variant
 * @property {Record<string, Note>} lacking why a variant cannot run
 * @property {Shape} grid
 * @property {Record<string, any>} [report]
 */

/**
 * Everything the page knows before the first image set.
 * @typedef {object} Config
 * @property {Panel[]} panels
 * @property {Slider[]} sliders
 * @property {Settings} defaults
 * @property {Variant[]} variants
 * @property {Example[]} examples
 * @property {Model[]} models
 * @property {{ name: string, layout: string, first: string, splits: string[] }[]} roots data folders
 * @property {Record<string, Record<string, string>>} texts
 * @property {Record<string, string>} colour_tables
 * @property {number} max_bytes
 * @property {{ allowed: boolean, max_bytes: number }} upload_weights
 * @property {{ formats: string[], widths: Record<string, number>, dpi: number }} export
 * @property {boolean} [sealed] there is no server
 * @property {boolean} [explains] without a server, but with what says why a patch was kept
 * @property {{ title: string, introduction: string[] }} [paper] what the author of such a page says above it
 * @property {Record<string, number[]>} [steps] the only values that sliders can take
 */

/**
 * One modality of an answer; a slider move brings only what it changes.
 * @typedef {object} PackedModality
 * @property {Record<string, string | null>} maps
 * @property {Record<string, string>} [raw]
 * @property {Record<string, Range>} ranges
 * @property {Record<string, boolean>} flat
 * @property {string} [token_norm]
 * @property {string | null} [photo]
 * @property {Record<string, string> | null} [layers] what may be drawn over a map: lines, relief
 * @property {string | null} [brightness] of each patch
 * @property {boolean} [missing]
 * @property {[Modality, Modality]} [others]
 * @property {string} rank
 * @property {number | null} cut
 * @property {number | null} margin
 * @property {any} matrix
 * @property {number} [kept]
 * @property {string | null} [groups]
 */

/** @typedef {Record<string, any> & { modalities: Record<Modality, PackedModality> }} Payload */
/** @typedef {{ patches: number, kept: number, tokens: number | null, draws: number }} Counts */
/** @typedef {{ rows: number, cols: number, max: number, keep: Int32Array, weights: Float32Array }} Branch */
/** @typedef {{ rows: number, max: number, tokenMax: Float32Array, branches: Branch[] }} TokenMatrix */

/**
 * One modality, unpacked and whole.
 * @typedef {object} ModalityAnalysis
 * @property {Record<string, Float32Array | null>} maps by panel; null where the weights lack one
 * @property {Record<string, string | null>} packed the same as text, to tell whether a panel changed
 * @property {Record<string, Float32Array>} raw cosines by panel
 * @property {Record<string, Range>} ranges
 * @property {Record<string, boolean>} flat maps that hardly vary
 * @property {Float32Array} norms
 * @property {Int32Array} rank
 * @property {TokenMatrix | null} matrix
 * @property {string | null} photo
 * @property {HTMLImageElement | null} image
 * @property {Record<string, string> | null} layers
 * @property {Record<string, HTMLImageElement>} drawn the layers, ready to be painted
 * @property {Float32Array | null} brightness of each patch
 * @property {boolean} missing
 * @property {[Modality, Modality]} others
 * @property {number | null} cut null where something else than the score decides
 * @property {number | null} margin
 * @property {number} kept
 * @property {Int32Array | null} groups why a patch is kept: 1 own modality, 2 another, 3 both, 4 filled up
 * @property {Range | null} weight_range of a soft mask, which drops nothing
 * @property {number} effective effective number of patches
 * @property {Record<string, any>} numbers
 */

/**
 * Everything that is on screen.
 * @typedef {object} Analysis
 * @property {string | null} key
 * @property {Shape} grid
 * @property {[number, number]} size
 * @property {Record<string, any>} weights
 * @property {Settings} settings
 * @property {Counts} counts
 * @property {Record<string, any>} [fusion] what the fusion behind the selection says
 * @property {any[]} [combinations] where DeMo's combinations of modalities look
 * @property {{ predictor: number, self: number, cross: number, cosines: boolean }} mix
 * @property {Record<string, Range>} ranges
 * @property {Note[]} notes
 * @property {Record<Modality, ModalityAnalysis>} modalities
 */

/** @typedef {{ slot: string, name: string, by: 'name' | 'order' | 'place' }[]} Told which file went where, and how that was told */
/** @typedef {{ example?: string, record?: string, token?: string, preview?: string, file?: File, slot?: string }} Source */

/**
 * What the page holds; parts read it and subscribe to it.
 * @typedef {object} State
 * @property {Settings} settings
 * @property {Display} display
 * @property {Model[]} models
 * @property {string} weights
 * @property {string} fit
 * @property {Set<string>} leaveOut
 * @property {string | null} example
 * @property {string | null} record
 * @property {Map<string, string>} recordNames
 * @property {Record<Modality, Source | null>} sources
 * @property {Partial<Record<Modality, string | null>>} photos
 * @property {number | null} token
 * @property {boolean} matrixOpen
 * @property {string | null} key
 * @property {Analysis | null} analysis
 * @property {{ key: string, root: number, split: string } | null} survey the gallery that "Find cases" has looked over last
 * @property {string | null} caseColumn the number by which it shall sort
 * @property {{ run: number, name: string, epoch: number, probe: number, epochs?: number[] } | null} recorded the epoch of a run that is
 *   shown, if one is; `name` is the run's, `epochs` all that have maps
 * @property {boolean} busy
 * @property {boolean} connected the server answers
 * @property {string} view the tab
 * @property {string | null} own the reader's pictures on screen, by the name that this browser keeps them under
 * @property {string | null} against A of a comparison, as a link names it
 * @property {{ slot: string, file: File, size: [number, number] } | null} wide a picture that may hold three, with height and width
 * @property {Told | null} told how files that came together were told apart
 * @property {boolean} peeking the photographs are shown in place of the maps
 * @property {Failure[]} failures
 * @property {{ modality: Modality, patch: number | null, pinned: boolean }} pointed
 * @property {string} language
 */

/** @typedef {Record<string, any> & { error?: Note, cancelled?: boolean, zone?: string | null, expired?: string[] }} Answer */

/**
 * Whoever computes: a server, or numbers in the page. Each call ends with an answer, never with an exception.
 * @typedef {object} Server
 * @property {(request: object) => Promise<any>} analyse
 * @property {(request: { key: string, settings: Settings, matrix: boolean }) => Promise<any>} decide
 * @property {(file: File, slot: string) => Promise<Answer>} stage
 * @property {(file: File, force: string, watch?: import('./upload.js').Watch) => Promise<Answer>} uploadWeights
 * @property {() => Promise<boolean>} [ping] whether anybody is there
 * @property {(task: string, fields: object) => Promise<Answer>} ask
 */

/** @typedef {import('./store.js').Store<State>} LensStore */
/** @typedef {ReturnType<typeof import('./i18n.js').makeTranslator>} Translator */
/** @typedef {ReturnType<typeof import('./session.js').makeSession>} Session */

/**
 * What every part is given.
 * @typedef {object} Lens
 * @property {Config} config
 * @property {Server} server
 * @property {LensStore} store
 * @property {Translator} i18n
 * @property {Session} session
 * @property {Record<string, Uint8Array>} tables colour tables by name
 * @property {ReturnType<typeof import('./notice.js').makeNotice>} notice what happened, for a moment and for screen readers
 */

/**
 * A tab's content. A hidden view is told nothing, so it costs nothing.
 * @typedef {object} View
 * @property {string} id
 * @property {HTMLElement} node
 * @property {(analysis: Analysis) => void} update
 * @property {() => void} [shown]
 * @property {() => void} [retranslate]
 */

export {};
