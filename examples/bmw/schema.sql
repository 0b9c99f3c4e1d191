-- every thing of every table has a row here too, with the same id; label is its name
CREATE TABLE entity (
  id INTEGER PRIMARY KEY,
  iri TEXT,
  label TEXT
);

-- car model (43 rows)
CREATE TABLE car_model (
  id INTEGER PRIMARY KEY,
  label TEXT, -- e.g. BMW 1 Series (2024), BMW 8 Series Gran Coupé
  name TEXT, -- e.g. BMW 1 Series (2024), BMW 8 Series Gran Coupé
  identifier TEXT, -- unique; e.g. bmw-1-series-(2024), bmw-8-series-gran-coupé
  price INTEGER, -- from 65160 to 129695; in 6 rows
  length INTEGER, -- in mm; from 4953 to 4953; in 1 rows
  description TEXT, -- e.g. The BMW 1 Series is a compact hatchback with …, The BMW 8 Series Gran Coupé is a four-door …
  url TEXT, -- e.g. https://www.bmw.co.uk/en/all-models/1-series/bmw-…, https://www.bmw.co.uk/en/all-models/8-series/gran…
  vehicle_model_date INTEGER -- one of: 2024, 2022, 2021, 2023, 2018, 2019; in 34 rows
);

-- variant (78 rows)
CREATE TABLE car_variant (
  id INTEGER PRIMARY KEY,
  label TEXT, -- e.g. BMW 320i M Sport Saloon, BMW X1 M35i xDrive
  name TEXT, -- e.g. BMW 320i M Sport Saloon, BMW X1 M35i xDrive
  identifier TEXT, -- unique; e.g. bmw-320i-m-sport-saloon, bmw-x1-m35i-xdrive
  price INTEGER, -- from 31065 to 173150
  length INTEGER, -- in mm; from 4324 to 5391
  engine_specification_id INTEGER REFERENCES engine_specification(id),
  is_variant_of_id INTEGER REFERENCES car_model(id),
  width INTEGER, -- in mm; from 1800 to 2218
  height INTEGER, -- in mm; from 1304 to 1835; in 77 rows
  wheelbase INTEGER, -- in mm; from 2470 to 3215; in 76 rows
  empty_weight INTEGER, -- in kg; from 1575 to 2675; in 15 rows
  fuel_capacity INTEGER, -- in l; from 47 to 83; in 15 rows
  luggage_compartment_volume REAL, -- middle of the range; in l; from 992.5 to 1435; in 15 rows
  luggage_compartment_volume_low REAL, -- lower number
  luggage_compartment_volume_high REAL, -- higher number
  maximum_weight INTEGER, -- in kg; from 2015 to 3345; in 15 rows
  payload INTEGER, -- in kg; from 495 to 835; in 15 rows
  top_speed INTEGER -- in km/h; from 190 to 250; in 15 rows
);

-- engine specification (78 rows); names: entity.label
CREATE TABLE engine_specification (
  id INTEGER PRIMARY KEY,
  wltpco2_emissioncombined REAL, -- middle of the range; in g/km; from 0 to 294
  wltpco2_emissioncombined_low REAL, -- lower number
  wltpco2_emissioncombined_high REAL, -- higher number
  acceleration_062_mph REAL, -- in s; from 3.2 to 9.2
  drive_type TEXT, -- one of: All-wheel drive, Rear-wheel drive, Front-wheel drive
  engine_performance INTEGER, -- in kW; from 100 to 550
  transmission TEXT, -- one of: Automatic, Manual; in 74 rows
  wltp_consumptioncombined REAL, -- middle of the range; in mpg; from 24.7 to 462.9; in 50 rows
  wltp_consumptioncombined_low REAL, -- lower number
  wltp_consumptioncombined_high REAL, -- higher number
  wltp_electric_rangecombined REAL, -- middle of the range; in km; from 43 to 630; in 28 rows
  wltp_electric_rangecombined_low REAL, -- lower number
  wltp_electric_rangecombined_high REAL, -- higher number
  wltp_energy_consumptioncombined REAL, -- middle of the range; in kWh/100km; from 14.3 to 33.9; in 28 rows
  wltp_energy_consumptioncombined_low REAL, -- lower number
  wltp_energy_consumptioncombined_high REAL, -- higher number
  battery_sizegrossnet REAL, -- first of two; in kWh; from 10.7 to 111.5; in 28 rows
  battery_sizegrossnet_low REAL, -- lower number
  battery_sizegrossnet_high REAL, -- higher number
  charging_time_ac INTEGER, -- in min; from 150 to 645; in 28 rows
  max_charging_performance_ac REAL, -- in kW; from 3.7 to 11; in 28 rows
  charging_time_dc INTEGER, -- in min; from 29 to 35; in 13 rows
  max_charging_performance_dc INTEGER -- in kW; from 130 to 205; in 13 rows
);

-- equipment category (13 rows)
CREATE TABLE equipment_category (
  id INTEGER PRIMARY KEY,
  label TEXT -- e.g. Interior, Suspension
);

-- fuel type (4 rows)
CREATE TABLE fuel_type (
  id INTEGER PRIMARY KEY,
  name TEXT -- e.g. diesel, plug-in-hybrid
);

-- equipment (250 rows)
CREATE TABLE product_equipment (
  id INTEGER PRIMARY KEY,
  label TEXT, -- e.g. LED headlights with extended contents, Sport seats for driver and front passenger; in 27 rows
  name TEXT -- e.g. 20" light alloy wheels Double-spoke style 869, Bowers & Wilkins Diamond surround sound system
);

-- car (121 rows)
-- view car: all rows and columns of car_model, car_variant

-- product (371 rows)
-- view product: all rows and columns of car_model, car_variant, product_equipment

-- vehicle (121 rows)
-- view vehicle: all rows and columns of car_model, car_variant

CREATE TABLE accessory (
  car_model_id INTEGER REFERENCES car_model(id),
  accessory_id INTEGER REFERENCES product(id)
);

CREATE TABLE equipment (
  car_model_id INTEGER REFERENCES car_model(id),
  equipment_id INTEGER REFERENCES product(id)
);

CREATE TABLE has_equipment_category (
  car_model_id INTEGER REFERENCES car_model(id),
  equipment_category_id INTEGER REFERENCES equipment_category(id)
);

CREATE TABLE has_fuel_type (
  subject_id INTEGER, -- id in car_model, engine_specification
  fuel_type_id INTEGER REFERENCES fuel_type(id)
);

CREATE TABLE innovative_highlight (
  car_model_id INTEGER REFERENCES car_model(id),
  innovative_highlight_id INTEGER REFERENCES product(id)
);
