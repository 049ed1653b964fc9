/**
 * The functions that user SQL may call. All others are refused: functions that read files, the network, dictionaries, settings or the
 * server's state, functions that only take time, and functions that a later version of the engine may add. Refused too are functions
 *
 * - whose time for one row grows with the square of its length, or without a bound, since the engine stops only between blocks of rows:
 *   with a limit of 2 s `mannWhitneyUTest`, `arraySimilarity`, `editDistance` and `seriesDecomposeSTL` ran for more than 15 s;
 * - that build their result outside the memory that the engine counts: `printf('%1000000000d', 1)` took 1.9 GB of 1 GiB;
 * - that make or take states of aggregate functions (`uniqState`, `uniqMerge`, `bitmapBuild`): the engine trusts the bytes of a state,
 *   and `transform` or `CASE` turn text into one.
 *
 * Names are compared without regard to case. Of the aggregate functions every combination with a suffix is allowed too (sumIf).
 */
const SCALAR_FUNCTIONS = `
  and assumeNotNull clamp coalesce equals firstNonDefault globalIn globalNotIn globalNotNullIn globalNullIn
  greater greaterOrEquals greatest if ifNull in isDistinctFrom isNotDistinctFrom isNotNull isNull isNullable
  isZeroOrNull least less lessOrEquals multiIf not notEquals notIn notNullIn nullIf nullIn or toNullable xor

  abs acos acosh asin asinh atan atan2 atanh avg2 bitAnd bitCount bitHammingDistance bitNot bitOr bitRotateLeft
  bitRotateRight bitShiftLeft bitShiftRight bitSlice bitTest bitTestAll bitTestAny bitXor byteSwap cbrt ceil cos
  cosh cosineDistance degrees divide divideDecimal divideOrNull e erf erfc exp exp10 exp2 factorial floor gcd
  hypot ifNotFinite intDiv intDivOrNull intDivOrZero intExp10 intExp2 isFinite isInfinite isNaN isPrime
  L1Distance L1Norm L1Normalize L2Distance L2Norm L2Normalize L2SquaredDistance L2SquaredNorm lcm lgamma
  LinfDistance LinfNorm LinfNormalize log log10 log1p log2 LpDistance LpNorm LpNormalize max2 midpoint min2
  minus modulo moduloLegacy moduloOrNull moduloOrZero multiply multiplyDecimal negate pi plus positiveModulo
  positiveModuloOrNull pow proportionsZTest radians round roundAge roundBankers roundDown roundDuration
  roundToExp2 sigmoid sign sin sinh sqr sqrt tan tanh tgamma trunc widthBucket

  array arrayAll arrayAUCPR arrayAutocorrelation arrayAvg arrayBottomK arrayCompact arrayConcat arrayCount
  arrayCumSum arrayCumSumNonNegative arrayDifference arrayDistinct arrayDotProduct arrayElement
  arrayElementOrNull arrayEnumerate arrayEnumerateDense arrayEnumerateDenseRanked arrayEnumerateUniq
  arrayEnumerateUniqRanked arrayExcept arrayExists arrayFill arrayFilter arrayFirst arrayFirstIndex
  arrayFirstOrNull arrayFlatten arrayFold arrayIntersect arrayJaccardIndex arrayJoin arrayLast arrayLastIndex
  arrayLastOrNull arrayMap arrayMax arrayMin arrayPartialReverseSort arrayPartialShuffle arrayPartialSort
  arrayPopBack arrayPopFront arrayProduct arrayPushBack arrayPushFront arrayRandomSample arrayReduce
  arrayReduceInRanges arrayRemove arrayResize arrayReverse arrayReverseFill arrayReverseSort arrayReverseSplit
  arrayROCAUC arrayRotateLeft arrayRotateRight arrayShiftLeft arrayShiftRight arrayShingles arrayShuffle
  arraySlice arraySort arraySplit arraySum arraySymmetricDifference arrayTopK arrayTranspose arrayUnion
  arrayUniq arrayWithConstant arrayZip arrayZipUnaligned countEqual dotProduct empty extractKeyValuePairs
  extractKeyValuePairsWithEscaping flattenTuple has hasAll hasAny hasSubstr indexOf indexOfAssumeSorted length
  map mapAdd mapAll mapApply mapConcat mapContainsKey mapContainsKeyLike mapContainsValue mapContainsValueLike
  mapExists mapExtractKeyLike mapExtractValueLike mapFilter mapFromArrays mapKeys mapPartialReverseSort
  mapPartialSort mapPopulateSeries mapReverseSort mapSort mapSubtract mapUpdate mapValues notEmpty range
  replicate reverse tuple tupleConcat tupleDivide tupleDivideByNumber tupleElement tupleHammingDistance
  tupleIntDiv tupleIntDivByNumber tupleIntDivOrZero tupleIntDivOrZeroByNumber tupleMinus tupleModulo
  tupleModuloByNumber tupleMultiply tupleMultiplyByNumber tupleNames tupleNegate tuplePlus
  tuplePositiveModuloByNumber tupleToNameValuePairs

  alphaTokens appendTrailingCharIfAbsent arrayStringConcat ascii base32Decode base32Encode base58Decode
  base58Encode base64Decode base64Encode base64URLDecode base64URLEncode basename bin bitmaskToArray
  bitmaskToList bitPositionsToArray byteHammingDistance caseFoldUTF8 char cityHash64 compareSubstrings concat
  concatAssumeInjective concatWithSeparator concatWithSeparatorAssumeInjective conv countMatches
  countMatchesCaseInsensitive countSubstrings countSubstringsCaseInsensitive countSubstringsCaseInsensitiveUTF8
  CRC32 CRC32IEEE CRC64 decodeHTMLComponent decodeXMLComponent encodeXMLComponent endsWith
  endsWithCaseInsensitive endsWithCaseInsensitiveUTF8 endsWithUTF8 extract extractAll extractAllGroupsHorizontal
  extractAllGroupsVertical extractGroups firstLine format halfMD5 hasAllTokens hasAnyTokens hasSubsequence
  hasSubsequenceCaseInsensitive hasSubsequenceCaseInsensitiveUTF8 hasSubsequenceUTF8 hasToken
  hasTokenCaseInsensitive hasTokenCaseInsensitiveOrNull hasTokenOrNull hex hilbertDecode hilbertEncode ilike
  initcap initcapUTF8 intHash32 intHash64 isValidASCII isValidUTF8 jumpConsistentHash left leftPad leftPadUTF8
  leftUTF8 lengthUTF8 like locate lower lowerUTF8 match MD5 mortonDecode mortonEncode multiFuzzyMatchAllIndices
  multiFuzzyMatchAny multiFuzzyMatchAnyIndex multiMatchAllIndices multiMatchAny multiMatchAnyIndex
  multiSearchAllPositions multiSearchAllPositionsCaseInsensitive multiSearchAllPositionsCaseInsensitiveUTF8
  multiSearchAllPositionsUTF8 multiSearchAny multiSearchAnyCaseInsensitive multiSearchAnyCaseInsensitiveUTF8
  multiSearchAnyUTF8 multiSearchFirstIndex multiSearchFirstIndexCaseInsensitive
  multiSearchFirstIndexCaseInsensitiveUTF8 multiSearchFirstIndexUTF8 multiSearchFirstPosition
  multiSearchFirstPositionCaseInsensitive multiSearchFirstPositionCaseInsensitiveUTF8
  multiSearchFirstPositionUTF8 murmurHash2_32 murmurHash2_64 murmurHash3_32 murmurHash3_64 naturalSortKey
  ngramDistance ngramDistanceCaseInsensitive ngramDistanceCaseInsensitiveUTF8 ngramDistanceUTF8 ngrams
  ngramSearch ngramSearchCaseInsensitive ngramSearchCaseInsensitiveUTF8 ngramSearchUTF8 normalizeUTF8NFC
  normalizeUTF8NFD normalizeUTF8NFKC normalizeUTF8NFKCCasefold normalizeUTF8NFKD notILike notLike overlay
  overlayUTF8 position positionCaseInsensitive positionCaseInsensitiveUTF8 positionUTF8 regexpExtract
  regexpPosition regexpQuoteMeta removeDiacriticsUTF8 repeat replaceAll replaceOne replaceRegexpAll
  replaceRegexpOne reverseBySeparator reverseUTF8 right rightPad rightPadUTF8 rightUTF8 SHA1 SHA224 SHA384
  SHA512 sipHash64 soundex space sparseGrams sparseGramsHashes sparseGramsHashesUTF8 sparseGramsUTF8 splitByChar
  splitByNonAlpha splitByRegexp splitByString splitByWhitespace startsWith startsWithCaseInsensitive
  startsWithCaseInsensitiveUTF8 startsWithUTF8 stringBytesEntropy stringBytesUniq stringJaccardIndex
  stringJaccardIndexUTF8 substring substringIndex substringIndexUTF8 substringUTF8 tokens toValidUTF8 translate
  translateUTF8 trimBoth trimLeft trimRight tryBase32Decode tryBase58Decode tryBase64Decode tryBase64URLDecode
  unbin unhex upper upperUTF8 URLHash xxh3 xxHash32 xxHash64

  dateTimeToUUIDv7 dynamicElement dynamicType generateUUIDv4 generateUUIDv7 isDynamicElementInSharedData
  isValidJSON JSON_EXISTS JSON_QUERY JSON_VALUE JSONAllPaths JSONAllPathsWithTypes JSONAllValues JSONArrayLength
  JSONDynamicPaths JSONDynamicPathsWithTypes JSONExtract JSONExtractArrayRaw JSONExtractArrayRawCaseInsensitive
  JSONExtractBool JSONExtractBoolCaseInsensitive JSONExtractCaseInsensitive JSONExtractFloat
  JSONExtractFloatCaseInsensitive JSONExtractInt JSONExtractIntCaseInsensitive JSONExtractKeys
  JSONExtractKeysAndValues JSONExtractKeysAndValuesCaseInsensitive JSONExtractKeysAndValuesRaw
  JSONExtractKeysAndValuesRawCaseInsensitive JSONExtractKeysCaseInsensitive JSONExtractRaw
  JSONExtractRawCaseInsensitive JSONExtractString JSONExtractStringCaseInsensitive JSONExtractUInt
  JSONExtractUIntCaseInsensitive JSONHas JSONKey JSONLength JSONMergePatch JSONSharedDataPaths
  JSONSharedDataPathsWithTypes JSONType simpleJSONExtractBool simpleJSONExtractFloat simpleJSONExtractInt
  simpleJSONExtractRaw simpleJSONExtractString simpleJSONExtractUInt simpleJSONHas toJSONString toUUIDOrDefault
  toUUIDOrNull UUIDNumToString UUIDStringToNum UUIDToNum UUIDv7ToDateTime

  addDate addDays addHours addInterval addMicroseconds addMilliseconds addMinutes addMonths addNanoseconds
  addQuarters addSeconds addTupleOfIntervals addWeeks addYears age changeDay changeHour changeMinute changeMonth
  changeSecond changeYear dateDiff dateName dateTrunc formatDateTime fromDaysSinceYearZero
  fromDaysSinceYearZero32 fromModifiedJulianDay fromModifiedJulianDayOrNull fromUnixTimestamp fromUTCTimestamp
  hop hopEnd hopStart localtime makeDate makeDate32 makeDateTime makeDateTime64 monthName now now64
  seriesOutliersDetectTukey subDate subtractDays subtractHours subtractInterval subtractMicroseconds
  subtractMilliseconds subtractMinutes subtractMonths subtractNanoseconds subtractQuarters subtractSeconds
  subtractTupleOfIntervals subtractWeeks subtractYears timeDiff timeSlot timeSlots timestamp timezone timezoneOf
  timezoneOffset today toDayOfMonth toDayOfWeek toDayOfYear toDaysInMonth toDaysSinceYearZero toHour toISOWeek
  toISOYear toLastDayOfMonth toLastDayOfWeek toMicrosecond toMillisecond toMinute toModifiedJulianDay
  toModifiedJulianDayOrNull toMonday toMonth toMonthNumSinceEpoch toNanosecond toQuarter toRelativeDayNum
  toRelativeHourNum toRelativeMinuteNum toRelativeMonthNum toRelativeQuarterNum toRelativeSecondNum
  toRelativeWeekNum toRelativeYearNum toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinutes
  toStartOfHour toStartOfInterval toStartOfISOYear toStartOfMicrosecond toStartOfMillisecond toStartOfMinute
  toStartOfMonth toStartOfNanosecond toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek
  toStartOfYear toTimeWithFixedDate toTimezone toUnixTimestamp toUTCTimestamp toWeek toYear toYearNumSinceEpoch
  toYearWeek toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss tumble tumbleEnd tumbleStart UTCTimestamp windowID yesterday

  _CAST accurateCast accurateCastOrDefault accurateCastOrNull CAST DATE fromUnixTimestamp64Micro
  fromUnixTimestamp64Milli fromUnixTimestamp64Nano fromUnixTimestamp64Second parseDateTime
  parseDateTime32BestEffort parseDateTime32BestEffortOrNull parseDateTime32BestEffortOrZero parseDateTime64
  parseDateTime64BestEffort parseDateTime64BestEffortOrNull parseDateTime64BestEffortOrZero
  parseDateTime64OrNull parseDateTime64OrZero parseDateTimeBestEffort parseDateTimeBestEffortOrNull
  parseDateTimeBestEffortOrZero parseDateTimeOrNull parseDateTimeOrZero reinterpret toBFloat16 toBFloat16OrNull
  toBFloat16OrZero toBool toDate toDate32 toDate32OrDefault toDate32OrNull toDate32OrZero toDateOrDefault
  toDateOrNull toDateOrZero toDateTime toDateTime32 toDateTime64 toDateTime64OrDefault toDateTime64OrNull
  toDateTime64OrZero toDateTimeOrDefault toDateTimeOrNull toDateTimeOrZero toDecimal32 toDecimal32OrDefault
  toDecimal32OrNull toDecimal32OrZero toDecimal64 toDecimal64OrDefault toDecimal64OrNull toDecimal64OrZero
  toDecimalString toFixedString toFloat32 toFloat32OrDefault toFloat32OrNull toFloat32OrZero toFloat64
  toFloat64OrDefault toFloat64OrNull toFloat64OrZero toInt16 toInt16OrDefault toInt16OrNull toInt16OrZero
  toInt32 toInt32OrDefault toInt32OrNull toInt32OrZero toInt64 toInt64OrDefault toInt64OrNull toInt64OrZero
  toInt8 toInt8OrDefault toInt8OrNull toInt8OrZero toIntervalDay toIntervalHour toIntervalMicrosecond
  toIntervalMillisecond toIntervalMinute toIntervalMonth toIntervalNanosecond toIntervalQuarter toIntervalSecond
  toIntervalWeek toIntervalYear toLowCardinality toString toStringCutToZero toTime toTime64 toTime64OrNull
  toTime64OrZero toTimeOrNull toTimeOrZero toUInt16 toUInt16OrDefault toUInt16OrNull toUInt16OrZero toUInt32
  toUInt32OrDefault toUInt32OrNull toUInt32OrZero toUInt64 toUInt64OrDefault toUInt64OrNull toUInt64OrZero
  toUInt8 toUInt8OrDefault toUInt8OrNull toUInt8OrZero toUnixTimestamp64Micro toUnixTimestamp64Milli
  toUnixTimestamp64Nano toUnixTimestamp64Second toUUID toUUIDOrZero

  rand rand64 randBernoulli randBinomial randCanonical randChiSquared randConstant randExponential randLogNormal
  randNegativeBinomial randNormal randomFixedString randomPrintableASCII randomString randomStringUTF8
  randPoisson randStudentT randUniform

  bar byteSize countDigits currentDatabase digits formatReadableDecimalSize formatReadableQuantity
  formatReadableSize formatReadableTimeDelta getSubcolumn identity ignore isConstant lambda materialize neighbor
  rowNumberInAllBlocks runningDifference runningDifferenceStartingWithFirstValue throwIf toTypeName transform
  variantElement variantType version

  any_value any_value_respect_nulls anyLastRespectNulls anyRespectNulls anyValueRespectNulls approx_top_count
  array_agg array_remove array_to_string arrayAUC arrayPRAUC BIT_AND BIT_OR BIT_XOR byteSlice CARDINALITY
  caseWithoutExpr caseWithoutExpression ceiling CHAR_LENGTH CHARACTER_LENGTH concat_ws COVAR_POP COVAR_SAMP
  curdate current_date current_timestamp date_bin DATE_DIFF date_diff DATE_FORMAT DATE_TRUNC DAY DAYOFMONTH
  DAYOFWEEK DAYOFYEAR dense_rank distanceCosine distanceL1 distanceL2 distanceL2Squared distanceLinf distanceLp
  extractAllGroups first_value first_value_respect_nulls firstValueRespectNulls flatten FROM_BASE64 FROM_DAYS
  FROM_UNIXTIME from_utc_timestamp group_concat hasAllToken hasAnyToken HOUR instr isASCII JSON_ARRAY_LENGTH
  jsonMergePatch LAST_DAY last_value last_value_respect_nulls lastValueRespectNulls lcase ln localtimestamp lpad
  ltrim lttb MAP_FROM_ARRAYS mapContains mapFromString max_by median medianBFloat16 medianBFloat16Weighted
  medianDD medianDeterministic medianExact medianExactHigh medianExactLow medianExactWeighted
  medianExactWeightedInterpolated medianGK medianInterpolatedWeighted medianTDigest medianTDigestWeighted
  medianTiming medianTimingWeighted MICROSECOND mid MILLISECOND min_by MINUTE mismatches mod modOrNull MONTH
  NANOSECOND NATURAL_SORT_KEY normalizeL1 normalizeL2 normalizeLinf normalizeLp normL1 normL2 normL2Squared
  normLinf normLp OCTET_LENGTH percent_rank pmod pmodOrNull positive_modulo positive_modulo_or_null power
  QUARTER rand32 REGEXP_EXTRACT regexp_instr REGEXP_MATCHES REGEXP_REPLACE REGEXP_SUBSTR regexpInstr
  removeAccentsUTF8 replace rpad rtrim scalarProduct SECOND sparkBar splitByAlpha STD STDDEV STDDEV_POP
  STDDEV_SAMP str_to_date str_to_map string_agg substr SUBSTRING_INDEX time_bucket TIMESTAMP_DIFF timestamp_diff
  timestampDiff timeZone timeZoneOf timeZoneOffset TO_BASE64 TO_DAYS TO_UNIXTIME to_utc_timestamp
  toStartOfFiveMinute toTimeZone trim truncate ucase unnest UTC_timestamp VAR_POP VAR_SAMP vectorDifference
  vectorSum visitParamExtractBool visitParamExtractFloat visitParamExtractInt visitParamExtractRaw
  visitParamExtractString visitParamExtractUInt visitParamHas week width_bucket YEAR yearweek
`;

const AGGREGATE_AND_WINDOW_FUNCTIONS = `
  any any_respect_nulls anyHeavy anyLast anyLast_respect_nulls approx_top_k approx_top_sum argAndMax argAndMin
  argMax argMin avg avgWeighted corr corrStable count covarPop covarPopStable covarSamp covarSampStable
  cume_dist deltaSum deltaSumTimestamp denseRank distinctDynamicTypes distinctJSONPaths
  distinctJSONPathsAndTypes entropy exponentialMovingAverage exponentialTimeDecayedAvg
  exponentialTimeDecayedCount exponentialTimeDecayedMax exponentialTimeDecayedSum groupArray groupArrayInsertAt
  groupArrayIntersect groupArrayLast groupArrayMovingAvg groupArrayMovingSum groupArraySample groupArraySorted
  groupBitAnd groupBitmap groupBitOr groupBitXor groupConcat groupNumericIndexedVector groupUniqArray histogram
  intervalLengthSum kurtPop kurtSamp lag lagInFrame largestTriangleThreeBuckets lead leadInFrame max
  maxIntersections maxIntersectionsPosition maxMappedArrays min minMappedArrays nonNegativeDerivative nth_value
  ntile percentRank quantile quantileBFloat16 quantileBFloat16Weighted quantileDD quantileDeterministic
  quantileExact quantileExactExclusive quantileExactHigh quantileExactInclusive quantileExactLow
  quantileExactWeighted quantileExactWeightedInterpolated quantileGK quantileInterpolatedWeighted
  quantilePrometheusHistogram quantiles quantilesBFloat16 quantilesBFloat16Weighted quantilesDD
  quantilesDeterministic quantilesExact quantilesExactExclusive quantilesExactHigh quantilesExactInclusive
  quantilesExactLow quantilesExactWeighted quantilesExactWeightedInterpolated quantilesGK
  quantilesInterpolatedWeighted quantilesPrometheusHistogram quantilesTDigest quantilesTDigestWeighted
  quantilesTiming quantilesTimingWeighted quantileTDigest quantileTDigestWeighted quantileTiming
  quantileTimingWeighted rank retention row_number sequenceCount sequenceMatch sequenceMatchEvents
  simpleLinearRegression singleValueOrNull skewPop skewSamp sparkbar stddevPop stddevPopStable stddevSamp
  stddevSampStable studentTTest studentTTestOneSample sum sumCount sumKahan sumMapFiltered
  sumMapFilteredWithOverflow sumMappedArrays sumMapWithOverflow sumWithOverflow topK topKWeighted uniq
  uniqCombined uniqCombined64 uniqExact uniqHLL12 uniqUpTo varPop varPopStable varSamp varSampStable welchTTest
  windowFunnel
`;

const AGGREGATE_COMBINATORS =
  /(?:If|Array|Map|Distinct|OrDefault|OrNull|SimpleState|ForEach|Resample|ArgMin|ArgMax|RespectNulls)$/i;

/**
 * The allowed functions that take a lambda as their first argument. There the engine accepts the bare *name* of a function too
 * (`arrayMap(file, ['/etc/passwd'])`), which its parser shows as an identifier.
 */
const HIGHER_ORDER_FUNCTIONS = `
  arrayAll arrayAvg arrayBottomK arrayCompact arrayCount arrayCumSum arrayCumSumNonNegative arrayDifference
  arrayExists arrayFill arrayFilter arrayFirst arrayFirstIndex arrayFirstOrNull arrayFold arrayLast
  arrayLastIndex arrayLastOrNull arrayMap arrayMax arrayMin arrayPartialReverseSort arrayPartialSort
  arrayProduct arrayReverseFill arrayReverseSort arrayReverseSplit arraySort arraySplit arraySum arrayTopK
  mapAll mapApply mapExists mapFilter mapPartialReverseSort mapPartialSort mapReverseSort mapSort
`;

const ALLOWED_NAMES = Object.freeze(
  `${SCALAR_FUNCTIONS} ${AGGREGATE_AND_WINDOW_FUNCTIONS}`.trim().split(/\s+/),
);

const scalarNames = parseNames(SCALAR_FUNCTIONS);
const aggregateNames = parseNames(AGGREGATE_AND_WINDOW_FUNCTIONS);
const higherOrderNames = parseNames(HIGHER_ORDER_FUNCTIONS);

/** The names of all allowed functions, without the combinators of aggregate functions. */
export function allowedFunctionNames(): readonly string[] {
  return ALLOWED_NAMES;
}

/** Whether user SQL may call the function. */
export function isAllowedFunction(name: string): boolean {
  const lowerCase = name.toLowerCase();
  if (scalarNames.has(lowerCase)) return true;
  for (let base = lowerCase; base !== '';) {
    if (aggregateNames.has(base)) return true;
    const stripped = base.replace(AGGREGATE_COMBINATORS, '');
    if (stripped === base) return false;
    base = stripped;
  }
  return false;
}

/** Whether the function takes a lambda as its first argument. */
export function isHigherOrderFunction(name: string): boolean {
  return higherOrderNames.has(name.toLowerCase());
}

function parseNames(text: string): ReadonlySet<string> {
  return new Set(text.trim().toLowerCase().split(/\s+/));
}
