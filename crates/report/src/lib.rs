//! What a load run found, as values without I/O: quantiles, errors by class, series, findings of the audit, conditions
//! on them, and each form in which they are written.
