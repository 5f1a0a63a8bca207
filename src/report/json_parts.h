/* Parts of verdict.json that more than one section writes. */
#ifndef REPORT_JSON_PARTS_H
#define REPORT_JSON_PARTS_H

#include "gate/result.h"
#include "report/json_writer.h"

/* An index, or null where it is negative. */
void json_index(struct json *json, const char *key, int64_t index);
/* A figure of n elements: without elements there is none; with them NaN is a value. */
void json_figure(struct json *json, const char *key, int64_t n, double value);
/* The members of one drift, into the object that is open. `single`: the tensor is fp32 or narrower. */
void json_drift(struct json *json, const struct gate_result *result, const struct drift *drift, bool single);
/* The list "reasons". */
void json_reasons(struct json *json, const struct gate_reasons *reasons);

#endif
