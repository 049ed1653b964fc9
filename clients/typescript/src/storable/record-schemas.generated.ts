// Written by scripts/client-schemas.mjs.
/** Schemas of records and of requests about runs, as the API's document has them. */
export const RECORD_SCHEMAS = {
 "episode": {
  "type": "object",
  "properties": {
   "type": {
    "type": "string",
    "enum": [
     "episode"
    ]
   },
   "episode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "groupId": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "groupSize": {
    "type": "integer",
    "minimum": 1,
    "maximum": 2147483647
   },
   "groupMember": {
    "type": "integer",
    "minimum": 0,
    "maximum": 2147483647
   },
   "environment": {
    "type": "string",
    "maxLength": 256
   },
   "task": {},
   "environmentSeed": {
    "type": "integer",
    "minimum": 0,
    "maximum": 9007199254740991,
    "nullable": true
   },
   "samplingSeed": {
    "type": "integer",
    "minimum": 0,
    "maximum": 9007199254740991,
    "nullable": true
   },
   "split": {
    "type": "string",
    "enum": [
     "train",
     "validation",
     "test"
    ]
   },
   "agent": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "externalId": {
    "type": "string",
    "maxLength": 256
   },
   "tags": {
    "type": "array",
    "items": {
     "type": "string",
     "minLength": 1,
     "maxLength": 256
    },
    "maxItems": 100
   },
   "metadata": {},
   "parentEpisode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "nullable": true
   },
   "forkedFrom": {
    "type": "object",
    "properties": {
     "episode": {
      "type": "string",
      "minLength": 1,
      "maxLength": 256
     },
     "step": {
      "type": "integer",
      "minimum": 0,
      "maximum": 1000000000
     }
    },
    "required": [
     "episode",
     "step"
    ],
    "additionalProperties": false,
    "nullable": true
   },
   "occurredAt": {
    "anyOf": [
     {
      "type": "string",
      "format": "date-time",
      "maxLength": 40
     },
     {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    ]
   }
  },
  "required": [
   "type",
   "episode"
  ],
  "additionalProperties": false
 },
 "step": {
  "type": "object",
  "properties": {
   "type": {
    "type": "string",
    "enum": [
     "step"
    ]
   },
   "episode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "step": {
    "type": "integer",
    "minimum": 0,
    "maximum": 1000000000
   },
   "observation": {
    "type": "string"
   },
   "action": {
    "type": "string"
   },
   "parsedAction": {
    "type": "string",
    "nullable": true
   },
   "actionValid": {
    "type": "boolean",
    "nullable": true
   },
   "anchor": {
    "type": "string",
    "nullable": true
   },
   "reward": {
    "type": "number",
    "nullable": true
   },
   "rewards": {
    "type": "object",
    "additionalProperties": {
     "type": "number",
     "nullable": true
    }
   },
   "terminated": {
    "type": "boolean"
   },
   "truncated": {
    "type": "boolean"
   },
   "info": {},
   "messages": {
    "type": "object",
    "properties": {
     "input": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "role"
       ],
       "properties": {
        "role": {
         "type": "string",
         "minLength": 1
        }
       },
       "additionalProperties": true
      }
     },
     "output": {
      "type": "object",
      "required": [
       "role"
      ],
      "properties": {
       "role": {
        "type": "string",
        "minLength": 1
       }
      },
      "additionalProperties": true,
      "nullable": true
     }
    },
    "required": [
     "input",
     "output"
    ],
    "additionalProperties": false,
    "nullable": true
   },
   "usage": {
    "type": "object",
    "properties": {
     "inputTokens": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "nullable": true
     },
     "cachedInputTokens": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "nullable": true
     },
     "outputTokens": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "nullable": true
     },
     "reasoningTokens": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "nullable": true
     },
     "costUsd": {
      "type": "number",
      "minimum": 0,
      "nullable": true
     }
    },
    "additionalProperties": false,
    "nullable": true
   },
   "tokens": {
    "type": "object",
    "properties": {
     "ids": {
      "type": "array",
      "items": {
       "type": "integer",
       "minimum": 0,
       "maximum": 2147483647
      },
      "maxItems": 4194304
     },
     "mask": {
      "type": "array",
      "items": {
       "type": "integer",
       "minimum": 0,
       "maximum": 1
      },
      "maxItems": 4194304
     },
     "logprobs": {
      "type": "array",
      "items": {
       "type": "number",
       "nullable": true
      },
      "maxItems": 4194304,
      "nullable": true
     },
     "rawLogprobs": {
      "type": "array",
      "items": {
       "type": "number",
       "nullable": true
      },
      "maxItems": 4194304,
      "nullable": true
     },
     "entropies": {
      "type": "array",
      "items": {
       "type": "number",
       "nullable": true
      },
      "maxItems": 4194304,
      "nullable": true
     },
     "versions": {
      "type": "array",
      "items": {
       "type": "integer",
       "minimum": -1,
       "maximum": 2147483647
      },
      "maxItems": 4194304,
      "nullable": true
     },
     "keptPrefix": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991,
      "nullable": true
     }
    },
    "required": [
     "ids",
     "mask"
    ],
    "additionalProperties": false,
    "nullable": true
   },
   "sampling": {
    "type": "object",
    "properties": {
     "temperature": {
      "type": "number",
      "minimum": 0
     },
     "topK": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     },
     "topP": {
      "type": "number",
      "minimum": 0,
      "maximum": 1
     },
     "greedy": {
      "type": "boolean"
     },
     "maxNewTokens": {
      "type": "integer",
      "minimum": 1,
      "maximum": 9007199254740991
     }
    },
    "required": [
     "temperature"
    ],
    "additionalProperties": false,
    "nullable": true
   },
   "engine": {
    "type": "string",
    "maxLength": 256
   },
   "model": {
    "type": "string",
    "maxLength": 256
   },
   "tokenizerHash": {
    "type": "string",
    "maxLength": 256
   },
   "logprobMode": {
    "type": "string",
    "enum": [
     "processed",
     "raw",
     "none"
    ]
   },
   "generationMs": {
    "type": "number",
    "minimum": 0,
    "maximum": 1.7976931348623157e+308,
    "nullable": true
   },
   "environmentMs": {
    "type": "number",
    "minimum": 0,
    "maximum": 1.7976931348623157e+308,
    "nullable": true
   },
   "untrainable": {
    "type": "string"
   },
   "occurredAt": {
    "anyOf": [
     {
      "type": "string",
      "format": "date-time",
      "maxLength": 40
     },
     {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    ]
   }
  },
  "required": [
   "type",
   "episode",
   "step"
  ],
  "additionalProperties": false
 },
 "end": {
  "type": "object",
  "properties": {
   "type": {
    "type": "string",
    "enum": [
     "end"
    ]
   },
   "episode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "endReason": {
    "type": "string",
    "enum": [
     "terminated",
     "truncated",
     "abandoned"
    ]
   },
   "detail": {
    "type": "string"
   },
   "finalObservation": {
    "type": "string"
   },
   "finalTokens": {
    "type": "object",
    "properties": {
     "ids": {
      "type": "array",
      "items": {
       "type": "integer",
       "minimum": 0,
       "maximum": 2147483647
      },
      "maxItems": 4194304
     },
     "keptPrefix": {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    },
    "required": [
     "ids"
    ],
    "additionalProperties": false
   },
   "success": {
    "type": "boolean",
    "nullable": true
   },
   "numSteps": {
    "type": "integer",
    "minimum": 0,
    "maximum": 1000000000
   },
   "occurredAt": {
    "anyOf": [
     {
      "type": "string",
      "format": "date-time",
      "maxLength": 40
     },
     {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    ]
   }
  },
  "required": [
   "type",
   "episode"
  ],
  "additionalProperties": false
 },
 "reward": {
  "type": "object",
  "properties": {
   "type": {
    "type": "string",
    "enum": [
     "reward"
    ]
   },
   "id": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "episode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "step": {
    "type": "integer",
    "minimum": 0,
    "maximum": 1000000000,
    "nullable": true
   },
   "name": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "value": {
    "type": "number",
    "nullable": true
   },
   "source": {
    "type": "string",
    "maxLength": 256
   },
   "rationale": {
    "type": "string"
   },
   "occurredAt": {
    "anyOf": [
     {
      "type": "string",
      "format": "date-time",
      "maxLength": 40
     },
     {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    ]
   }
  },
  "required": [
   "type",
   "episode",
   "name",
   "value"
  ],
  "additionalProperties": false
 },
 "annotation": {
  "type": "object",
  "properties": {
   "type": {
    "type": "string",
    "enum": [
     "annotation"
    ]
   },
   "id": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "episode": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "tags": {
    "type": "array",
    "items": {
     "type": "string",
     "minLength": 1,
     "maxLength": 256
    },
    "maxItems": 100,
    "nullable": true
   },
   "metadata": {},
   "source": {
    "type": "string",
    "maxLength": 256
   },
   "occurredAt": {
    "anyOf": [
     {
      "type": "string",
      "format": "date-time",
      "maxLength": 40
     },
     {
      "type": "integer",
      "minimum": 0,
      "maximum": 9007199254740991
     }
    ]
   }
  },
  "required": [
   "type",
   "episode"
  ],
  "additionalProperties": false
 },
 "runStart": {
  "type": "object",
  "properties": {
   "id": {
    "type": "string",
    "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
   },
   "name": {
    "type": "string",
    "minLength": 1,
    "maxLength": 256
   },
   "environment": {
    "type": "string",
    "maxLength": 256
   },
   "tags": {
    "type": "array",
    "items": {
     "type": "string",
     "minLength": 1,
     "maxLength": 256
    },
    "maxItems": 100
   },
   "metadata": {}
  },
  "required": [
   "name"
  ],
  "additionalProperties": false
 },
 "runEnd": {
  "type": "object",
  "properties": {
   "reason": {
    "type": "string",
    "enum": [
     "finished",
     "stopped",
     "failed"
    ]
   },
   "detail": {
    "type": "string",
    "maxLength": 10000
   }
  },
  "required": [
   "reason"
  ],
  "additionalProperties": false
 }
};
